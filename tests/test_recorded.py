"""Numbers and texts that were recorded are still the same: see tests/support/recorded."""

import pytest

from recorded import record


def test_the_values_of_real_runs_are_those_recorded_bit_for_bit(realdata):
    assert record.changes("values", record.lines_of("values", realdata)) == []


@pytest.mark.peers  # another numpy gives other last bits
def test_comparisons_of_real_runs_find_what_is_recorded(realdata):
    assert record.changes("comparisons", record.lines_of("comparisons", realdata)) == []


@pytest.mark.peers  # another typer lays out other help texts
def test_what_is_printed_and_written_is_as_recorded():
    assert record.changes("printed", record.lines_of("printed", None)) == []


def test_a_changed_number_or_text_is_found():
    lines = record.recorded("values")
    run, policy, measure, digest = lines[7].split()
    lines[7] = f"{run} {policy} {measure} {digest[::-1]}"
    assert f"+{lines[7]}" in record.changes("values", lines)
    lines = record.recorded("comparisons")
    number = next(place for place, line in enumerate(lines) if '"p": 0.' in line)
    lines[number] = lines[number].replace('"p": 0.', '"p": 0.1')
    assert f"+{lines[number]}" in record.changes("comparisons", lines)
    assert record.changes("comparisons", lines[:-1])
    assert record.changes("printed", [*record.recorded("printed"), "more"])[-1] == "+more"
