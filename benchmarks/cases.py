"""The benchmark cases: for each case its data, and one function per side (tool).

A side returns its means, so that the sides can be checked to agree before they are timed.
"""

from __future__ import annotations

import atexit
import random
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

#: The cutoffs and trec_eval's names of the measures: 24 numbers.
CUTOFFS = (1, 3, 5, 10, 100, 1000)
NAMES = ("ndcg_cut", "map_cut", "recall", "P")
#: Whether the same id is one string in all rankings, as in a run that was made from a list of ids,
#: or each ranking has its own strings, as in a run that was read from a file.
IDS = ("own", "shared")
#: A function that takes the data and returns {trec_eval's name of a measure: mean}.
Side: TypeAlias = Callable[[Any], dict[str, float]]


class Shape(NamedTuple):
    """The size of a case: queries, documents per query and judged documents per query."""

    queries: int
    documents: int
    judged: int

    def __str__(self) -> str:
        """Return the shape as the tables print it."""
        return f"{self.queries:,} × {self.documents:,}, {self.judged:,} judged"


class Case(NamedTuple):
    """One case: the function that makes its data, called once per process, and its sides."""

    make: Callable[[], Any]
    sides: dict[str, Side]


# Data


def make_dicts(
    shape: Shape, ids: str = "own"
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return qrels and a run with random ids and scores.

    About 60% of the judged documents are retrieved, half of them among the best 1%: of a system
    that finds nothing, rankings are read again in a search for mistakes.

    Args:
        shape: the size.
        ids: one of ``IDS``.
    """
    rng = random.Random(0)  # noqa: S311 - test data
    numbers = rng.sample(range(8_841_823), 500_000)
    collection = [str(number) for number in numbers]
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(shape.queries):
        retrieved = rng.sample(collection, shape.documents)
        hits = rng.sample(retrieved, min(len(retrieved), round(0.6 * shape.judged)))
        if shape.judged == 1:
            hits = [rng.choice(retrieved)] if rng.random() < 0.6 else []
        judged = hits + rng.sample(collection, shape.judged - len(hits))
        grades = (1,) if shape.judged == 1 else (0, 1, 2)
        if ids == "own":
            judged, retrieved = ([_copy(doc) for doc in docs] for docs in (judged, retrieved))
        qrels[f"q{number}"] = {doc: rng.choice(grades) for doc in judged}
        are_hits = set(hits)
        run[f"q{number}"] = {
            doc: 30 * rng.random() ** (1 / 64 if doc in are_hits else 1) for doc in retrieved
        }
    return qrels, run


def _copy(text: str) -> str:
    """Return an equal string that is another object."""
    return "".join([text[:1], text[1:]])


def make_arrays(queries: int, k: int) -> tuple[dict[str, dict[str, int]], Any, Any, list[str]]:
    """Return qrels, document ids i8[Q, k], scores f4[Q, k] and query ids.

    No row lists a document twice. Each query has one judged document; about 60% are retrieved, half
    of them among the first ten, for the reason that ``make_dicts`` names.
    """
    rng = np.random.default_rng(0)
    ids = rng.integers(1, 80_000, size=(queries, k))
    np.cumsum(ids, axis=1, out=ids)
    scores = rng.random((queries, k), dtype=np.float32)
    scores.sort(axis=1)
    np.negative(scores, out=scores)  # best first: -0.1 is better than -0.2
    query_ids = [f"q{number}" for number in range(queries)]
    hit_index = np.where(rng.random(queries) < 0.5, 1, 10) * rng.integers(0, k // 10, size=queries)
    is_retrieved = rng.random(queries) < 0.6
    judged = np.where(is_retrieved, ids[np.arange(queries), hit_index], 9_000_000)
    qrels = {
        query_id: {str(doc): 1} for query_id, doc in zip(query_ids, judged.tolist(), strict=True)
    }
    return qrels, ids, scores, query_ids


# Sides. Each imports its own package, so that a process loads the packages of one side only.


def _beir_eval(qrels: Any, run: Any, cutoffs: Iterable[int] = CUTOFFS) -> dict[str, float]:
    import beir_eval as b  # noqa: PLC0415

    measures = [measure @ k for measure in (b.nDCG, b.MAP, b.Recall, b.Precision) for k in cutoffs]
    return b.evaluate(qrels, run, measures, ties="trec_eval9").as_dict(names="trec_eval")


def _means(scores: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return {measure: mean} of {query_id: {measure: score}}."""
    names = next(iter(scores.values()))
    return {
        name: sum(query_scores[name] for query_scores in scores.values()) / len(scores)
        for name in names
    }


def _pytrec_eval(qrels: Any, run: Any) -> dict[str, float]:
    import pytrec_eval  # noqa: PLC0415

    measures = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in NAMES}
    return _means(pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run))


def _ranx(qrels: Any, run: Any) -> dict[str, float]:
    import ranx  # noqa: PLC0415

    ranx_names = {"ndcg_cut": "ndcg", "map_cut": "map", "recall": "recall", "P": "precision"}
    trec_eval_names = {f"{ranx_names[name]}@{k}": f"{name}_{k}" for name in NAMES for k in CUTOFFS}
    means = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(trec_eval_names))
    return {trec_eval_names[name]: float(mean) for name, mean in means.items()}


def read_scores(_: Any, run: Any) -> dict[str, float]:
    """Read the scores into arrays and do nothing else: a lower bound for any tool."""
    rankings = list(run.values())
    step = max(1, 10_000 // max(1, len(rankings[0])))
    for start in range(0, len(rankings), step):
        chunk = rankings[start : start + step]
        scores = chain.from_iterable(map(dict.values, chunk))
        np.frombuffer(struct.pack(f"{sum(map(len, chunk))}d", *scores))
    return {}


def _from_pair(side: Callable[[Any, Any], dict[str, float]]) -> Side:
    """Return a side that takes the qrels and the run as one pair."""
    return lambda data: side(*data)


def _beir_eval_on_arrays(data: Any) -> dict[str, float]:
    import beir_eval as b  # noqa: PLC0415

    qrels, ids, scores, query_ids = data
    return _beir_eval(qrels, b.Run.from_arrays(ids, scores, query_ids=query_ids))


def _pytrec_eval_on_arrays(data: Any) -> dict[str, float]:
    qrels, ids, scores, query_ids = data
    run = {
        query_id: dict(zip(map(str, docs), doc_scores, strict=True))
        for query_id, docs, doc_scores in zip(query_ids, ids.tolist(), scores.tolist(), strict=True)
    }
    return _pytrec_eval(qrels, run)


def make_arrays_with_qrels(queries: int, k: int) -> tuple[Any, Any, Any, Any]:
    """Return what ``make_arrays`` does, the judgements as ``Qrels``, with its own query ids."""
    import beir_eval as b  # noqa: PLC0415

    mapping, ids, scores, _ = make_arrays(queries, k)
    qrels = b.Qrels(mapping)
    return qrels, ids, scores, qrels.query_ids


def _pass_over_arrays(data: Any) -> dict[str, float]:
    """Look at every id and score once: a lower bound for any tool."""
    _, ids, scores, _ = data
    ids.max()
    scores.max()
    return {}


def make_file(queries: int, documents: int) -> tuple[dict[str, dict[str, int]], Path]:
    """Return qrels and the path of a TREC run of the data of ``make_dicts``.

    The file is deleted when the process ends.
    """
    qrels, run = make_dicts(Shape(queries, documents, 1))
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "run.trec"
    with path.open("w") as file:
        for query_id, scores in run.items():
            for rank, doc_id in enumerate(sorted(scores, key=scores.__getitem__, reverse=True), 1):
                file.write(f"{query_id} Q0 {doc_id} {rank} {scores[doc_id]:.6f} bm25\n")
    return qrels, path


def _beir_eval_on_file(data: Any) -> dict[str, float]:
    import beir_eval as b  # noqa: PLC0415

    qrels, path = data
    return _beir_eval(qrels, b.read_run(path))


def _read_file_with_polars(data: Any) -> dict[str, float]:
    """Read the three columns of a TREC run that matter, as text and numbers: a lower bound."""
    import polars as pl  # noqa: PLC0415

    columns = {0: pl.String, 2: pl.String, 4: pl.Float64}
    pl.read_csv(
        data[1], separator=" ", has_header=False, columns=list(columns),
        schema_overrides={f"column_{index + 1}": kind for index, kind in columns.items()},
    )  # fmt: skip
    return {}


def make_documents(queries: int, documents: int) -> tuple[list[Any], list[Any]]:
    """Return ground truth and retrieved Haystack documents of 200 characters, lists per query.

    Each query has one ground-truth document, which is retrieved; documents of different queries
    have their own texts.
    """
    from haystack import Document  # noqa: PLC0415

    rng = random.Random(0)  # noqa: S311 - test data
    numbers = [rng.sample(range(10**9), documents) for _ in range(queries)]
    retrieved = [[Document(content=f"{number:0200d}") for number in row] for row in numbers]
    truth = [[Document(content=rng.choice(ranking).content)] for ranking in retrieved]
    return truth, retrieved


def _beir_eval_on_documents(data: Any) -> dict[str, float]:
    from haystack_integrations.components.evaluators.beir_eval import (  # noqa: PLC0415
        BEIREvaluator,
    )

    truth, retrieved = data
    evaluator = BEIREvaluator()
    return dict(
        evaluator.run(ground_truth_documents=truth, retrieved_documents=retrieved)["metrics"]
    )


def make_long_documents(
    queries: int, documents: int, words: int, field: str
) -> tuple[dict[str, Any], str]:
    """Return the arguments of Haystack's evaluators and the field that identifies a document.

    Each query has three ground-truth documents, which are retrieved.

    Args:
        queries: how many queries.
        documents: the length of each ranking.
        words: the length of each text.
        field: "content" or "id".
    """
    from haystack import Document  # noqa: PLC0415

    rng = random.Random(0)  # noqa: S311 - test data
    texts = (
        " ".join([f"w{rng.randrange(4000)}" for _ in range(words)]) for _ in range(2 * queries)
    )
    store = [Document(id=f"d{number}", content=text) for number, text in enumerate(texts)]
    retrieved = [rng.sample(store, documents) for _ in range(queries)]
    truth = [rng.sample(ranking, 3) for ranking in retrieved]
    return {"ground_truth_documents": truth, "retrieved_documents": retrieved}, field


def _component(data: Any) -> dict[str, float]:
    """Run the component with its 36 measures."""
    from haystack_integrations.components.evaluators.beir_eval import (  # noqa: PLC0415
        BEIREvaluator,
    )

    arguments, field = data
    return dict(BEIREvaluator(document_comparison_field=field).run(**arguments)["metrics"])


def _four_of_haystack(data: Any) -> dict[str, float]:
    """Run Haystack's four evaluators; their MRR has no cutoff and is not compared."""
    from haystack.components import evaluators  # noqa: PLC0415

    arguments, field = data
    means = {
        name: evaluator(document_comparison_field=field).run(**arguments)["score"]
        for name, evaluator in (
            ("MRR", evaluators.DocumentMRREvaluator),
            ("MAP@100", evaluators.DocumentMAPEvaluator),
            ("nDCG@100", evaluators.DocumentNDCGEvaluator),
            ("Recall@100", evaluators.DocumentRecallEvaluator),
        )
    }
    del means["MRR"]
    return means


def _drop_in_of_pytrec_eval(qrels: Any, run: Any) -> dict[str, float]:
    from beir_eval.integrations import pytrec_eval  # noqa: PLC0415

    measures = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in NAMES}
    return _means(pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run))


def _with_evaluation_of(retrieval: Any, data: Any) -> dict[str, float]:
    """Return all numbers of the class EvaluateRetrieval of BEIR, or of its drop-in."""
    qrels, run = data
    means = retrieval.EvaluateRetrieval().evaluate(qrels, run, list(CUTOFFS))
    return {name: mean for part in means for name, mean in part.items()}


def _drop_in_of_beir(data: Any) -> dict[str, float]:
    from beir_eval.integrations import beir  # noqa: PLC0415

    return _with_evaluation_of(beir, data)


def _beir(data: Any) -> dict[str, float]:
    evaluation = import_module("beir.retrieval.evaluation")

    return _with_evaluation_of(evaluation, data)


def _read_contents(data: Any) -> dict[str, float]:
    """Look at every document and its text, as a set for each query: a lower bound."""
    for documents in data[1]:
        set([document.content for document in documents])  # noqa: C403 - faster than a set of them
    return {}


def _dict_case(shape: Shape, ids: str) -> Case:
    sides = {
        "beir-eval": _beir_eval,
        "pytrec_eval": _pytrec_eval,
        "ranx": _ranx,
        "reading": read_scores,
    }
    return Case(
        partial(make_dicts, shape, ids), {name: _from_pair(side) for name, side in sides.items()}
    )


DICT_SHAPES = (
    Shape(6980, 1000, 1),
    Shape(100_000, 100, 1),
    Shape(300_000, 10, 1),
    Shape(50, 1000, 600),
)
#: Queries and documents of each, and words of each text, of the rows of the component.
COMPONENT_SIZES = ((20, 10), (1000, 100))
COMPONENT_WORDS = (60, 3000)
DROP_IN_SHAPES = (Shape(10, 10, 3), Shape(300, 100, 5))


def _measures_case(queries: str, documents: str, number: str) -> Case:
    our_side = partial(_beir_eval, cutoffs=range(1, 1 + int(number) // len(NAMES)))
    sides = {"beir-eval": _from_pair(our_side), "reading": _from_pair(read_scores)}
    return Case(partial(make_dicts, Shape(int(queries), int(documents), 1)), sides)


def _file_case(queries: str, documents: str) -> Case:
    sides: dict[str, Side] = {"beir-eval": _beir_eval_on_file, "polars": _read_file_with_polars}
    return Case(partial(make_file, int(queries), int(documents)), sides)


def _haystack_case(queries: str, documents: str) -> Case:
    sides: dict[str, Side] = {"beir-eval": _beir_eval_on_documents, "contents": _read_contents}
    return Case(partial(make_documents, int(queries), int(documents)), sides)


def _component_case(queries: str, documents: str, words: str, field: str) -> Case:
    sides: dict[str, Side] = {"beir-eval": _component, "Haystack": _four_of_haystack}
    return Case(
        partial(make_long_documents, int(queries), int(documents), int(words), field), sides
    )


def _drop_ins_case(*shape: str) -> Case:
    sides: dict[str, Side] = {
        "drop-in of pytrec_eval": _from_pair(_drop_in_of_pytrec_eval),
        "pytrec_eval": _from_pair(_pytrec_eval),
        "drop-in of BEIR": _drop_in_of_beir,
        "BEIR": _beir,
    }
    return Case(partial(make_dicts, Shape(*map(int, shape))), sides)


def _arrays_case(queries: str, k: str) -> Case:
    sides: dict[str, Side] = {
        "beir-eval": _beir_eval_on_arrays,
        "one pass": _pass_over_arrays,
        "pytrec_eval": _pytrec_eval_on_arrays,
    }
    return Case(partial(make_arrays, int(queries), int(k)), sides)


def _ready_case(queries: str, k: str) -> Case:
    sides: dict[str, Side] = {"beir-eval": _beir_eval_on_arrays, "one pass": _pass_over_arrays}
    return Case(partial(make_arrays_with_qrels, int(queries), int(k)), sides)


_KINDS: dict[str, Callable[..., Case]] = {
    "dicts": lambda *sizes: _dict_case(Shape(*map(int, sizes[:-1])), sizes[-1]),
    "measures": _measures_case,
    "file": _file_case,
    "haystack": _haystack_case,
    "component": _component_case,
    "drop-ins": _drop_ins_case,
    "arrays": _arrays_case,
    "ready": _ready_case,
}


def case_from_name(name: str) -> Case:
    """Return a case.

    Args:
        name: "dicts <queries> <documents> <judged> <one of IDS>"; "measures <queries> <documents>
            <measures>", dicts with so many measures, a multiple of 4; "file <queries> <documents>",
            a TREC run; "haystack <queries> <documents>"; "component <queries> <documents> <words>
            <content or id>"; "drop-ins <queries> <documents> <judged>"; "arrays <queries> <k>"
            with the judgements as dicts, or "ready <queries> <k>" with the judgements as
            ``Qrels``.
    """
    kind, *sizes = name.split()
    return _KINDS[kind](*sizes)


# Whole processes


#: What ``write_files`` writes: judgements, a run, and the same run in another format.
FILES = ("qrels.trec", "run.trec", "run.parquet")


def write_files(folder: Path) -> None:
    """Write a TREC run of 6,980 × 1,000, its qrels, and the same run as Parquet."""
    rng = random.Random(0)  # noqa: S311 - test data
    with (folder / "run.trec").open("w") as run, (folder / "qrels.trec").open("w") as qrels:
        for query in range(6980):
            docs = rng.sample(range(8_841_823), 1000)
            score = 30.0
            for rank, doc in enumerate(docs, start=1):
                score -= rng.random() * 0.02
                run.write(f"{query} Q0 {doc} {rank} {score:.6f} bm25\n")
            judged = rng.choice(docs) if rng.random() < 0.6 else 9_000_000
            qrels.write(f"{query} 0 {judged} 1\n")
    import beir_eval  # noqa: PLC0415

    beir_eval.write_run(beir_eval.read_run(folder / "run.trec"), folder / "run.parquet")


def evaluate_file_with_pytrec_eval(folder: Path) -> dict[str, float]:
    """Read and evaluate the TREC run of a folder with pytrec_eval and its own parsers."""
    import pytrec_eval  # noqa: PLC0415

    qrels_name, run_name, _ = FILES
    with (folder / qrels_name).open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with (folder / run_name).open() as file:
        run = pytrec_eval.parse_run(file)
    return _pytrec_eval(qrels, run)


if __name__ == "__main__":
    import json

    command, folder = sys.argv[1], Path(sys.argv[2])
    if command == "write":
        write_files(folder)
    else:
        print(json.dumps(evaluate_file_with_pytrec_eval(folder)))
