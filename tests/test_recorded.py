"""Numbers and texts are equal to those recorded: see tests/support/recorded."""

import pytest

from recorded import record


@pytest.mark.slow
@pytest.mark.recorded_values
@pytest.mark.filterwarnings(
    "ignore::beir_eval.BeirEvalWarning"
)  # of a real run with rankings of other queries
def test_the_values_of_real_runs_are_those_recorded_bit_for_bit(realdata):
    assert record.changes("values", record.lines_of("values", realdata)) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")  # likewise
@pytest.mark.peers  # the last bits depend on the version of numpy
def test_comparisons_of_real_runs_are_those_recorded(realdata):
    assert record.changes("comparisons", record.lines_of("comparisons", realdata)) == []


@pytest.mark.slow
@pytest.mark.peers  # the layout of help texts depends on the version of typer
def test_printed_and_written_texts_are_those_recorded():
    assert record.changes("printed", record.lines_of("printed", None)) == []


def test_a_changed_number_or_text_is_reported():
    lines = record.recorded("values")
    run, policy, digest = lines[7].split()
    lines[7] = f"{run} {policy} {digest[::-1]}"
    assert f"+{lines[7]}" in record.changes("values", lines)
    lines = record.recorded("comparisons")
    index = next(position for position, line in enumerate(lines) if " p=0." in line)
    lines[index] = lines[index].replace(" p=0.", " p=0.1")
    assert f"+{lines[index]}" in record.changes("comparisons", lines)
    assert record.changes("comparisons", lines[:-1])
    assert record.changes("printed", [*record.recorded("printed"), "more"])[-1] == "+more"
