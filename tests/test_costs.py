"""No path executes more bytecodes or allocates more memory than recorded: see recorded/costs.py."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from beir_eval.core.arrays import position_in_row, starts_from_lengths
from recorded import costs, record

HEADER = f"{costs.VERSION}  bytecodes  kB  more of many"


@pytest.mark.costs
def test_no_path_costs_more_than_recorded_and_gains_are_recorded():
    recorded = record.recorded("costs")
    if not costs.is_of_this_python(recorded):
        pytest.skip("the bytecodes of this version of Python are not those recorded")
    changes = record.changes("costs", costs.record())
    assert not changes, "\n".join(changes)


@pytest.mark.parametrize("now", ["10,900  1,090  0", "8,000  800  -400", "10,000  1,000  400"])
def test_costs_up_to_a_twentieth_higher_or_a_fifth_lower_are_no_change(now):
    recorded = [HEADER, "evaluate, dicts  10,000  1,000  0"]
    assert costs.changes(recorded, [HEADER, f"evaluate, dicts  {now}"]) == []


@pytest.mark.parametrize(
    ("now", "change"),
    [
        (
            "10,901  1,000  0",
            "bytecodes: 10,000 bytecodes recorded, 10,901 now, 1.09 times as many",
        ),
        ("10,000  1,091  0", "kB: 1,000 kB recorded, 1,091 now, 1.09 times as many"),
        ("10,000  1,000  401", "more of many: 0 bytecodes recorded, 401 now"),
        ("10,000  750  0", "kB: 1,000 kB recorded, 750 now, 0.75 times as many: record the gain"),
    ],
)
def test_a_change_is_reported_with_path_unit_old_and_new_cost_and_factor(now, change):
    recorded = [HEADER, "evaluate, dicts  10,000  1,000  0"]
    line, remedy = costs.changes(recorded, [HEADER, f"evaluate, dicts  {now}"])
    assert line.startswith(f"evaluate, dicts, {change}")
    assert remedy == costs.REMEDY


def test_bytecodes_of_our_own_files_count_in_every_thread_and_others_do_not():
    def call():
        starts_from_lengths(np.array([2, 3]))

    def call_in_a_thread():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(call).result()

    number = costs.bytecodes(call)
    assert number > 0
    assert costs.bytecodes(lambda: (call(), sorted(range(1000), key=lambda n: -n))) == number
    assert costs.bytecodes(lambda: (call(), call())) == 2 * number
    assert costs.bytecodes(call_in_a_thread) == number


def test_memory_that_our_own_files_allocate_and_free_at_once_counts():
    rows = np.arange(1_000_000) // 3

    def call():
        position_in_row(rows)

    at_once = costs.kilobytes_at_once(call)
    assert at_once > 8_000_000 // 1024
    assert costs.kilobytes(call) >= at_once
