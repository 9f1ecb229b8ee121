"""Values that others published are met, by ``benchmarks/published.py``, or differ for a reason."""

import gzip
import importlib.util
from collections import Counter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "published.py"
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

RECALLS = ("iprec_at_recall_0.30", "iprec_at_recall_0.70")
#: Average precision of the ranking a, b, x, c where a, b and c are relevant: (1 + 1 + 3/4) / 3.
MAP = "0.9167"


@pytest.fixture
def published(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    spec = importlib.util.spec_from_file_location("published", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def write_published(tmp_path, monkeypatch):
    """Return a function that writes a folder with a run and {measure: published value}."""

    def write(values):
        files = {
            "qrels/dl21-passage.trec.gz": "".join(f"q 0 {doc} 1\n" for doc in "abc"),
            "published/dl21/made.trec.gz": "".join(
                f"q Q0 {doc} {rank} {-rank} made\n" for rank, doc in enumerate("abxc", start=1)
            ),
            "published/dl21/expected.tsv.gz": "run\tmeasure\tquery\tvalue\n"
            + "".join(
                f"made\t{name}\t{query}\t{value}\n"
                for name, value in values.items()
                for query in ("q", "all")
            ),
        }
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(gzip.compress(text.encode()))
        monkeypatch.setenv("BEIR_EVAL_REALDATA", str(tmp_path))

    return write


def different(compared):
    return [value for value in compared.values if value.ours != value.published]


def test_trec_evals_output_for_runs_of_a_track_differs_only_where_a_fused_multiply_add_counts(
    published, realdata
):
    compared = published.syndl(realdata, ())
    assert len(compared.values) == 42 * 2_000
    assert {value.cause for value in different(compared)} == {"fused multiply-add"}
    assert Counter((value.measure, value.query) for value in different(compared)) == {
        (RECALLS[0], "629937"): 14,
        (RECALLS[0], "688007"): 7,
        (RECALLS[0], "all"): 20,
        (RECALLS[1], "253263"): 9,
        (RECALLS[1], "all"): 7,
    }


@pytest.mark.parametrize(
    ("row", "number"),
    # The row of MTEB encodes a corpus for minutes: `make published` holds it, with status 1.
    [("nist", 42 * 12), ("anserini", 7)],
)
def test_means_that_others_published_are_met_to_the_last_digit(published, realdata, row, number):
    compared = published.ROWS[row].compare(realdata, ())
    assert len(compared.values) == number
    assert different(compared) == []


@pytest.mark.slow
@pytest.mark.peers
def test_other_tools_meet_the_same_values_and_ranx_does_where_ties_are_ordered_alike(
    published, realdata
):
    values = published.syndl(realdata, published.TOOLS).values
    *_, pytrec_eval, ir_measures, _, ranx_alike = published.counted(values)
    assert pytrec_eval == "83,943 of 84,000"
    assert ir_measures == "81,633 of 81,690"  # it has neither gm_map nor Rndcg
    assert ranx_alike == "49,896 of 49,896"  # nor has ranx IPrec and counts


def test_a_difference_is_explained_by_computing_the_published_value(
    published, write_published, capsys
):
    # With two relevant documents precision is 2/2, with three 3/4.
    write_published({"map": MAP, RECALLS[1]: "0.7500", "num_rel_ret": "3"})
    assert published.main("syndl", tools=()) == 0
    output = capsys.readouterr().out
    assert "| 6 | 4 | 2: fused multiply-add |" in output
    assert f"| {RECALLS[1]} | q | made | 0.7500 | 1.0000 | fused multiply-add |" in output
    assert (
        "2.9999999999999996 rounded twice, so 2 documents (0 of 1 published values are equal); "
        "3.0 by a fused multiply-add, so 3 (1 are)"
    ) in output


@pytest.mark.parametrize("wrong", [{"map": "0.9168"}, {RECALLS[1]: "0.7501"}, {"P_5": "0.7"}])
def test_a_difference_without_a_cause_ends_with_status_1(published, write_published, capsys, wrong):
    write_published({"map": MAP} | wrong)
    assert published.main("syndl", tools=()) == 1
    assert capsys.readouterr().out.count("| not known |") == 2
