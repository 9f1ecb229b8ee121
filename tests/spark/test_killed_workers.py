"""A worker of the cluster that is killed with its executor changes no score."""

import threading
import time

import pytest

import spark_cases
import spark_servers

spark_servers.skip_without_java()

from beir_eval.integrations.spark import evaluate, summarise  # noqa: E402


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    return spark_cases.generated_case(tmp_path_factory.mktemp("killed") / "case", 1_000_000)


class Job(threading.Thread):
    """A thread that summarises a score table."""

    def __init__(self, scores):
        super().__init__(daemon=True)
        self._scores = scores
        self.result = self.error = None

    def run(self):
        try:
            self.result = summarise(self._scores)
        except BaseException as error:  # noqa: BLE001 - the test raises it
            self.error = error


def wait_for(condition, job=None, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if job is not None:
            assert job.is_alive(), job.error or "the job ended before the worker was killed"
        if condition():
            return
        time.sleep(0.02)
    raise TimeoutError


def is_in_shuffle(session):
    """Return a test: has a stage that writes the shuffle finished some of its tasks, not all?"""
    tracker = session.sparkContext.statusTracker()

    def test():
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return any(stage and 0 < stage.numCompletedTasks < stage.numTasks for stage in stages)

    return test


def is_in_python(cluster):
    """Return a test: does the executor that will be killed run Python workers?"""

    def test():
        return any(map(spark_servers.grandchildren, cluster.workers[0].executors()))

    return test


@spark_cases.sessions("cluster to kill")
@pytest.mark.parametrize(("phase", "method"), [("shuffle", "cogroup"), ("Python", "sort")])
def test_a_killed_worker_changes_nothing(started, case, phase, method):
    session, cluster = started
    wait_for(lambda: all(worker.executors() for worker in cluster.workers))
    assert len(cluster.workers) == 2
    qrels, run = case.frames(session)
    # Many small tasks, so that some are done and some are not.
    job = Job(evaluate(qrels, run.repartition(24), method=method, partitions=24))
    job.start()
    wait_for(is_in_shuffle(session) if phase == "shuffle" else is_in_python(cluster), job)
    try:
        assert cluster.kill_worker() == 1
        assert job.is_alive()
        job.join(240)
    finally:
        cluster.start_worker()
    if job.error is not None:
        raise job.error
    spark_cases.assert_equal(job.result, case.expected())
