"""The notebook that trains a bi-encoder."""

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from beir_eval import EvaluationResult, Ledger
from notebook_runs import NOTEBOOKS, code_cells, execute


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The executed notebook, and the folder in which it ran."""
    folder = tmp_path_factory.mktemp("notebook")
    return execute(NOTEBOOKS / "07_train_and_watch.ipynb", folder, timeout=1500)


@pytest.fixture(scope="module")
def results(executed):
    """{step: the saved result}."""
    files = (executed[1] / "run/eval/beir_eval/demo/cosine").glob("step-*.json")
    return {
        int(path.stem.removeprefix("step-")): EvaluationResult.load(path)
        for path in sorted(files, key=lambda path: int(path.stem.removeprefix("step-")))
    }


def printed(executed):
    return "".join(
        output.get("text", "") for cell in code_cells(executed[0]) for output in cell["outputs"]
    )


def test_training_is_stopped_by_the_callback_whose_reason_the_ledger_shows(executed, results):
    ledgers = list((executed[1] / "run/eval/beir_eval_ledgers").glob("since-step-*.jsonl"))
    last = max(ledgers, key=lambda path: int(path.stem.rpartition("-")[2]))
    ledger = Ledger.open(last)
    assert len(ledger.looks) == 4  # patience
    assert all(look.verdict != "better" for look in ledger.looks)
    stopped = max(results)
    assert stopped < 60
    assert ledger.looks[-1].step == f"step-{stopped}"
    since = ledger.baseline.name.removeprefix("step-")
    for words in (f"stopped at step {stopped}: ", f"nDCG@10 since step {since}, after 4"):
        assert words in printed(executed)


def test_the_curve_has_a_row_for_each_evaluation(executed, results):
    assert list(results) == list(range(0, max(results) + 1, 5))
    for step, result in results.items():
        assert f"| {step:<4} |" in printed(executed)
        assert f"{result['nDCG@10']:.4f}" in printed(executed)


def test_the_event_files_have_every_measure_at_its_step(executed, results):
    events = EventAccumulator(str(executed[1] / "run/tensorboard")).Reload()
    for measure in ("nDCG@10", "Recall@10"):
        logged = {
            event.step: event.value for event in events.Scalars(f"eval/demo_cosine_{measure}")
        }
        assert logged == pytest.approx(
            {step: result[measure] for step, result in results.items()}, abs=1e-6
        )
    assert "train/loss" in events.Tags()["scalars"]
    assert [tag for tag in events.Tags()["tensors"] if "step-5" in tag]  # of the comparison


def test_the_report_compares_every_checkpoint_with_the_first(executed, results):
    page = (executed[1] / "run/report.html").read_text(encoding="utf-8")
    assert "<html" in page
    for step in results:
        assert f"step-{step}" in page
