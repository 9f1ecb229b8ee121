"""Values that others published are met, by ``benchmarks/published.py``, or differ for a reason."""

import gzip
import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "published.py"
RECALLS = ("iprec_at_recall_0.30", "iprec_at_recall_0.70")
#: Average precision of the ranking a, b, x, c where a, b and c are relevant: (1 + 1 + 3/4) / 3.
MAP = "0.9167"


@pytest.fixture
def published():
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


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
def test_published_values_of_real_runs_differ_only_where_a_fused_multiply_add_counts(
    published, realdata
):
    systems = ("NLE_P_V1andV2", "ielab-robertav2")
    values, _ = published.trec_deep_learning_2021(realdata, systems)
    assert len(values) == 2 * 2_000
    different = [value for value in values if value.ours != value.published]
    assert {value.cause for value in different} == {"fused multiply-add"}
    assert {(value.system, value.measure, value.query) for value in different} == {
        ("NLE_P_V1andV2", RECALLS[0], "629937"),
        ("NLE_P_V1andV2", RECALLS[0], "all"),
        ("NLE_P_V1andV2", RECALLS[1], "253263"),
        ("NLE_P_V1andV2", RECALLS[1], "all"),
        ("ielab-robertav2", RECALLS[0], "629937"),
        ("ielab-robertav2", RECALLS[0], "688007"),
        ("ielab-robertav2", RECALLS[0], "all"),
    }


def test_a_difference_is_explained_by_computing_the_published_value(
    published, write_published, capsys
):
    # With two relevant documents precision is 2/2, with three 3/4.
    write_published({"map": MAP, RECALLS[1]: "0.7500", "num_rel_ret": "3"})
    assert published.main() == 0
    output = capsys.readouterr().out
    assert "| all measures | 6 | 4 | 2 | 0 |" in output
    assert f"| {RECALLS[1]} | q | made | 0.7500 | 1.0000 | fused multiply-add |" in output
    assert (
        "2.9999999999999996 rounded twice, so 2 documents (0 of 1 published values are equal); "
        "3.0 by a fused multiply-add, so 3 (1 are)"
    ) in output


@pytest.mark.parametrize("wrong", [{"map": "0.9168"}, {RECALLS[1]: "0.7501"}, {"P_5": "0.7"}])
def test_a_difference_without_a_cause_ends_with_status_1(published, write_published, capsys, wrong):
    write_published({"map": MAP} | wrong)
    assert published.main() == 1
    assert capsys.readouterr().out.count("| not known |") == 2
