"""The evaluators in a training run of two processes."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from beir_eval import EvaluationResult
from tiny_transformers import tiny_encoder

pytestmark = pytest.mark.slow

WORKER = Path(__file__).parents[1] / "support" / "evaluate_in_processes.py"


def wait_for_all(processes, seconds):
    """Return the exit codes; as soon as a process fails, or after so long, None for the others."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        codes = [process.poll() for process in processes]
        if None not in codes or any(codes):
            break
        time.sleep(0.1)
    return codes


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """The folder with what two processes wrote."""
    models, output = tmp_path_factory.mktemp("models"), tmp_path_factory.mktemp("output")
    tiny_encoder(models / "transformer").save_pretrained(str(models / "encoder"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    # Into files: a process would wait for ever for somebody to read a full pipe, and the other one
    # for this process.
    printed = [tmp_path_factory.mktemp("printed") / f"{rank}.txt" for rank in (0, 1)]
    started = []
    try:
        for rank, file in enumerate(printed):
            own = {"RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"}
            with file.open("wb") as opened:
                started.append(
                    subprocess.Popen(
                        [sys.executable, str(WORKER), str(models), str(output)],
                        env=os.environ | shared | own,
                        stdout=opened,
                        stderr=subprocess.STDOUT,
                    )
                )
        codes = wait_for_all(started, seconds=300)
    finally:
        for process in started:
            process.kill()
            process.wait()
    texts = [file.read_text(errors="replace")[-3000:] for file in printed]
    assert codes == [0, 0], "\n\n".join(texts)
    return output


@pytest.fixture(scope="module")
def seen(output):
    """What each process saw."""
    return [json.loads((output / f"process-{rank}.json").read_text()) for rank in (0, 1)]


@pytest.mark.parametrize("evaluator", ["ours", "compatible"])
def test_all_processes_have_the_same_numbers_and_the_first_one_writes_them(output, seen, evaluator):
    assert [process["rank"] for process in seen] == [0, 1]
    assert seen[0][evaluator] == seen[1][evaluator]
    [file] = (output / "alone" / evaluator).glob("beir_eval/demo/*/step-5.json")
    result = EvaluationResult.load(file)
    key = {"ours": "demo_cosine_nDCG@10", "compatible": "demo_cosine_ndcg@10"}[evaluator]
    assert seen[0][evaluator][key] == result["nDCG@10"]
    [table] = (output / "alone" / evaluator).glob("*.csv")
    assert len(table.read_text().splitlines()) == 2  # the header, and a row of one process


def test_nothing_is_written_beside_the_folder_of_the_first_process(output):
    assert {path.name for path in output.iterdir()} == {
        "alone", "trained", "process-0.json", "process-1.json",
    }  # fmt: skip


def test_all_processes_of_a_trainer_have_the_same_curve(output, seen):
    for name in ("world_size", "steps", "curve"):
        assert seen[0][name] == seen[1][name]
    assert seen[0]["world_size"] == 2
    assert seen[0]["steps"] == 3
    folder = output / "trained/eval/beir_eval/demo/cosine"
    assert [
        EvaluationResult.load(folder / f"step-{step}.json")["nDCG@10"] for step in (1, 2, 3)
    ] == seen[0]["curve"]
    assert len(list(folder.iterdir())) == 3
