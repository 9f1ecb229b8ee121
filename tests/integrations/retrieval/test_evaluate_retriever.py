"""Any function from a query to documents gets the numbers of ``evaluate``."""

import asyncio
import functools
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from beir_eval import EvaluationResult, Run, evaluate, load_dataset, read_run
from beir_eval.datasets import demo
from beir_eval.errors import BeirEvalWarning, InputError, RetrievalError, RunError, SettingError
from beir_eval.integrations.retrieval import evaluate_retriever, run_queries
from time_limit import time_limit
from waiting import wait_until

DATASET = load_dataset(demo.FOLDER)
MEASURES = ["nDCG@10", "MAP", "MRR@5"]
#: {text of a query: (id, score) pairs}, of a bundled run.
PAIRS = {
    DATASET.queries[query_id]: sorted(ranking.items(), key=lambda pair: -pair[1])[:10]
    for query_id, ranking in read_run(demo.RUNS[0]).as_dict().items()
}
IDS = {text: [doc_id for doc_id, _ in pairs] for text, pairs in PAIRS.items()}
EXPECTED = evaluate(
    DATASET.qrels,
    Run.from_rankings({query_id: IDS[text] for query_id, text in DATASET.queries.items()}),
    MEASURES,
)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(run_queries, "FIRST_WAIT_SECONDS", 0.01)


async def search_async(text):
    await asyncio.sleep(0)
    return PAIRS[text]


class Searcher:
    """Has a depth, and searches as a method, as a call or as a coroutine function."""

    def __init__(self, depth=10):
        self.depth = depth

    def search(self, text):
        return IDS[text][: self.depth]

    async def __call__(self, text):
        return self.search(text)


def haystack(doc_id, score, source=""):
    return SimpleNamespace(id=doc_id, content="", meta={"source": source}, score=score)


def langchain(doc_id, _score, source=""):
    return SimpleNamespace(id=doc_id, page_content="", metadata={"source": source})


def langchain_with_score(doc_id, score, source=""):
    return langchain(doc_id, score, source), -score  # a distance


def llama_index(doc_id, score, source=""):
    node = SimpleNamespace(node_id=doc_id, ref_doc_id=doc_id, metadata={"source": source})
    node.get_content = lambda: ""
    return SimpleNamespace(node=node, score=score)


HOSTS = [haystack, langchain, langchain_with_score, llama_index]
FUNCTIONS = {
    "ids": IDS.__getitem__,
    "pairs": PAIRS.__getitem__,
    "an iterator": lambda text: iter(PAIRS[text]),
    "a coroutine function": search_async,
    "a method": Searcher().search,
    "a callable object": Searcher(),
    "a partial": functools.partial(lambda ids, text: ids[text], IDS),
    **{
        make.__name__: lambda text, make=make: [make(*pair) for pair in PAIRS[text]]
        for make in HOSTS
    },
}


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_scores_of_its_own_rankings(name, concurrency):
    result = evaluate_retriever(DATASET, FUNCTIONS[name], MEASURES, concurrency=concurrency)
    assert EXPECTED["nDCG@10"] > 0.5
    assert result.values == EXPECTED.values
    assert len(result.retrieval.seconds) == 30


@pytest.mark.parametrize("make", HOSTS)
def test_a_field_of_the_metadata_identifies_documents(make):
    def search(text):
        return [
            make(f"{index:x}", score, doc_id) for index, (doc_id, score) in enumerate(PAIRS[text])
        ]

    result = evaluate_retriever(DATASET, search, MEASURES, document_comparison_field="meta.source")
    assert result.values == EXPECTED.values
    with pytest.warns(BeirEvalWarning, match=r"document_comparison_field='meta\.source'"):
        evaluate_retriever(DATASET, search, "MRR")


def test_a_document_retrieved_twice_is_counted_once():
    result = evaluate_retriever(DATASET, lambda text: IDS[text] + IDS[text][:1], MEASURES)
    assert result.values == EXPECTED.values
    assert result.retrieval.left_out == 30


def test_data_set_and_function_may_be_swapped_and_the_level_of_relevance_set():
    result = evaluate_retriever(IDS.__getitem__, DATASET, ["MRR", "nDCG@10"], rel=1)
    assert result.measures == ("MRR(rel=1)", "nDCG@10")


def test_the_saved_run_has_the_scores_of_pairs(tmp_path):
    saved = tmp_path / "run.trec"
    evaluate_retriever(DATASET, PAIRS.__getitem__, "MRR", limit=1, save_run=saved)
    [(query_id, text), *_] = DATASET.queries.items()
    assert read_run(saved).as_dict() == {query_id: pytest.approx(dict(PAIRS[text]), rel=1e-6)}


def flaky(failing, times):
    attempts = []

    def search(text):
        attempts.append(text)
        if text in failing and attempts.count(text) <= times:
            raise ConnectionError("no route")
        return IDS[text]

    return search, attempts


@pytest.mark.parametrize(
    "make",
    [lambda depth: Searcher(depth).search, lambda depth: lambda text: IDS[text][:depth]],
    ids=["method", "closure"],
)
def test_answers_of_other_settings_are_refused_and_those_of_equal_ones_reused(make, tmp_path):
    settings = {"measures": "MRR", "save_run": tmp_path / "run.trec"}
    first = evaluate_retriever(DATASET, make(10), **settings)
    again = evaluate_retriever(DATASET, make(10), **settings)
    assert again.values == first.values
    assert [(part.answers, part.checked) for part in again.retrieval.reused] == [(30, 3)]
    with pytest.raises(SettingError, match="answers of another retriever"):
        evaluate_retriever(DATASET, make(5), **settings)


def test_failures_are_counted_and_attempts_repeated():
    failing = list(DATASET.queries.values())[:3]
    settings = {"measures": "MRR", "retries": 1, "concurrency": 5}
    result = evaluate_retriever(DATASET, flaky(failing, 9)[0], on_error="missing", **settings)
    assert list(result.retrieval.failures) == list(DATASET.queries)[:3]
    assert result.retrieval.retries == 3
    assert "3 missing queries failed" in result.to_markdown()
    assert evaluate_retriever(DATASET, flaky(failing, 1)[0], **settings).retrieval.failures == {}


def test_a_time_limit_ends_a_slow_query():
    may_end = threading.Event()

    async def sleep(_text):
        await asyncio.sleep(60)

    try:
        for slow in (sleep, lambda _text: may_end.wait()):
            with time_limit(60), pytest.raises(RunError, match=r"no answer within 0\.05 seconds"):
                evaluate_retriever(DATASET, slow, limit=2, timeout=0.05, on_error="missing")
    finally:
        may_end.set()


def test_no_more_coroutines_run_at_a_time_than_concurrency_allows():
    running, most, two_are_running = [], [], asyncio.Event()

    async def search(text):
        running.append(text)
        most.append(len(running))
        if len(running) == 2:
            two_are_running.set()
        await asyncio.wait_for(two_are_running.wait(), 60)
        await asyncio.sleep(0.01)  # a third would begin meanwhile
        running.remove(text)
        return IDS[text]

    evaluate_retriever(DATASET, search, "MRR", concurrency=2, limit=6)
    assert max(most) == 2


def test_queries_of_a_function_run_in_threads_at_the_same_time():
    # None of 15 queries ends before all of them have begun; then come the other 15.
    barrier = threading.Barrier(15, timeout=60)

    def search(text):
        barrier.wait()
        return IDS[text]

    result = evaluate_retriever(DATASET, search, "MRR", concurrency=15)
    assert len(result.retrieval.seconds) == 2 * 15


def test_it_works_in_a_running_event_loop():
    async def main():
        return evaluate_retriever(DATASET, search_async, MEASURES, concurrency=2)

    assert asyncio.run(main()).values == EXPECTED.values


FIRST = next(iter(DATASET.queries.values()))


@pytest.mark.parametrize("is_async", [False, True])
def test_a_query_that_is_cancelled_by_something_else_is_a_failure(is_async):
    async def search_async(text):
        return search(text)

    def search(text):
        if text == FIRST:
            raise asyncio.CancelledError
        return IDS[text]

    settings = {"search": search_async if is_async else search, "measures": "MRR", "limit": 3}
    with pytest.raises(RetrievalError, match=r"'q01'.*CancelledError"):
        evaluate_retriever(DATASET, **settings)
    result = evaluate_retriever(DATASET, on_error="missing", **settings)
    assert list(result.retrieval.failures) == ["q01"]
    assert list(result.retrieval.seconds) == ["q02", "q03"]


def endless(started, ended, *, interrupting):
    """Return a search of which no query ends by itself; the first may send SIGINT."""

    async def search(text):
        started.append(text)
        if interrupting and len(started) == 1:
            await asyncio.sleep(0.2)  # until the notebook waits for the queries
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(text)

    return search


async def run_in_a_notebook(search):
    evaluate_retriever(DATASET, search, "MRR", concurrency=2)


def test_an_interrupt_in_a_notebook_stops_the_queries():
    started, ended = [], []
    loop = asyncio.new_event_loop()
    # A shell starts background processes with this signal ignored.
    previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with time_limit(60), pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(run_in_a_notebook(endless(started, ended, interrupting=True)))
    finally:
        signal.signal(signal.SIGINT, previous_handler)
        loop.close()
    wait_until(lambda: len(ended) == len(started))
    assert len(started) <= 2


def test_an_interrupt_while_the_first_query_is_being_started_stops_the_queries_too(monkeypatch):
    class InterruptedExecutor(ThreadPoolExecutor):
        def submit(self, *arguments):
            super().submit(*arguments)
            raise KeyboardInterrupt

    started, ended = [], []
    monkeypatch.setattr(run_queries, "ThreadPoolExecutor", InterruptedExecutor)
    with time_limit(60), pytest.raises(KeyboardInterrupt):
        asyncio.run(run_in_a_notebook(endless(started, ended, interrupting=False)))
    assert len(ended) == len(started) <= 2


def test_the_text_of_a_failure_is_kept_short_and_can_be_saved(tmp_path):
    def search(text):
        if text == FIRST:
            raise ConnectionError("bad byte \udcff " + "x" * 100_000)
        return IDS[text]

    result = evaluate_retriever(DATASET, search, "MRR", on_error="missing")
    assert len(result.retrieval.failures["q01"]) < 600
    result.save(tmp_path / "result.json")
    assert EvaluationResult.load(tmp_path / "result.json") == result


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("d1", r"must be a list of ids, \(id, score\) pairs or documents, best first, not 'd1'"),
        ({"d1": 2.0}, "must be a list of ids"),
        ([1.5], "item 1 of the answer to query 'q01': an id must be text or an integer"),
        (["a", ""], "item 2 of the answer to query 'q01': an id is empty"),
        ([("a", 1.0), ("b", 2.0), ("c", 1.5)], "pairs .*are not sorted by their scores"),
        ([("a", 1.0), ("b", float("nan"))], "pairs .*are not sorted by their scores"),
    ],
)
def test_an_answer_of_another_shape_is_refused_with_the_query_and_not_asked_for_again(
    answer, message
):
    texts = []

    def search(text):
        texts.append(text)
        return answer

    with pytest.raises(RetrievalError, match=f"query 'q01'.*{message}"):
        evaluate_retriever(DATASET, search, retries=3)
    assert len(texts) == 1


def test_a_function_that_returns_a_coroutine_is_told_to_await_it():
    with pytest.raises(RetrievalError, match="define it with async def, and await inside"):
        evaluate_retriever(DATASET, lambda text: search_async(text.strip()))


def test_something_else_than_a_function_is_refused_with_the_remedy():
    with pytest.raises(SettingError, match=r"search must be a function .*retriever\.invoke"):
        evaluate_retriever(DATASET, SimpleNamespace(invoke=None))
    with pytest.raises(SettingError, match="timeout must be"):
        evaluate_retriever(DATASET, IDS.__getitem__, timeout=0)
    with pytest.raises((SettingError, InputError)):
        evaluate_retriever(3, IDS.__getitem__)
