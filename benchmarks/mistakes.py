"""Honest mistakes, made on real runs: which are refused, warned of, noted, or silent.

    BEIR_EVAL_REALDATA=../shared/data python benchmarks/mistakes.py [--only MISTAKE] [--tool TOOL]

Each mistake changes the judgements or the run of a pair of real files, which are then evaluated as
a user would: ``beir-eval evaluate qrels run -m nDCG@10 -m MAP -m Recall@100``, ``evaluate`` on
dicts in Python, and with pytrec_eval, ranx and ir_measures. What is printed beyond what the right
files print decides:

- refused: an error, no number;
- warned: a warning, or another one than for the right files;
- noted: only a note below the table differs, or the asterisk of a cutoff;
- silent: another number, and not a word;
- no effect: the numbers are those of the right files;
- not possible: the files have nothing that the mistake changes.

A mistake "on a third" is made in every third query or, where it says so, on a third of the lines.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: A line of a run: query, document, rank and score, as text.
Line: TypeAlias = tuple[str, str, str, str]
DATA = Path(os.environ.get("BEIR_EVAL_REALDATA", "../shared/data"))
MEASURES = {
    "beir-eval": ["nDCG@10", "MAP", "Recall@100"],
    "beir-eval, dicts": ["nDCG@10", "MAP", "Recall@100"],
    "pytrec_eval": ["ndcg_cut_10", "map", "recall_100"],
    "ranx": ["ndcg@10", "map", "recall@100"],
    "ir_measures": ["nDCG@10", "AP", "R@100"],
}
TOOLS = tuple(MEASURES)
OUTCOMES = ("refused", "warned", "noted", "silent", "no effect", "not possible")
#: (folder of runs, judgements, name) of each data set.
SETS = (
    ("runs/dl19", "qrels/dl19-passage.trec", "DL 2019"),
    ("runs/dl21", "qrels/dl21-passage.trec.gz", "DL 2021"),
    ("runs/scifact", "scifact", "SciFact"),
    ("runs/trec-covid", "qrels/trec-covid.trec", "TREC-COVID"),
)
#: Data that no threshold was chosen with: further runs, and made ones ("") on other judgements.
UNSEEN_SETS = (
    ("published/dl21", "qrels/dl21-passage.trec.gz", "DL 2021, further runs"),
    *(
        ("", f"qrels/{name}.trec", f"{name}, made")
        for name in ("webis-touche2020", "nfcorpus", "fiqa", "arguana", "cqadupstack-gaming")
    ),
)
#: The documents of a made ranking; and of each made run, which share of the relevant documents it
#: finds, and how likely the next document of a ranking is one of them.
MADE_DEPTH = 100
MADE_RUNS = {"strong": (0.8, 0.3), "weak": (0.4, 0.06)}
#: Real runs with real faults, which are no base for made ones: no query in common with the qrels,
#: tables of another format, rankings of other queries with copies of documents.
LEFT_OUT = ("david_e5", "kirl_rerank_tabs", "kl_hybrid")


@dataclass(frozen=True)
class Files:
    """Judgements and a run as lines, before they are written.

    Attributes:
        qrels: (query, document, grade as text).
        run: (query, document, rank as text, score as text).
        first: whether the judgements are passed first, as they must be.
        end: text after the last line of the run.
        qrels_end: text after the last line of the judgements.
        header: a first line of the run.
    """

    qrels: Sequence[tuple[str, str, str]]
    run: Sequence[Line]
    first: bool = True
    end: str = ""
    qrels_end: str = ""
    header: str = ""

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write both files, and return what is passed as judgements and as run."""
        qrels, run = folder / "qrels.trec", folder / "run.trec"
        qrels.write_text(
            "".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in self.qrels)
            + self.qrels_end
        )
        lines = (f"{query} Q0 {doc} {rank} {score} tag\n" for query, doc, rank, score in self.run)
        run.write_text(self.header + "".join(lines) + self.end)
        return (qrels, run) if self.first else (run, qrels)


def by_query(run: Sequence[Line]) -> dict[str, list[Line]]:
    """Return {query: its lines}."""
    lines: dict[str, list[Line]] = defaultdict(list)
    for line in run:
        lines[line[0]].append(line)
    return lines


def change_run(
    change: Callable[..., Any], *, share: int = 1, of: str = "query"
) -> Callable[[Files], Files]:
    """Return a mistake that changes lines of a run, of every ``share``-th query or line.

    Args:
        change: gets the lines of a query and returns others.
        share: 1 for all, 3 for a third.
        of: "query" or "line".
    """

    def made(files: Files) -> Files:
        lines: list[Any] = []
        for number, (_, ranking) in enumerate(by_query(files.run).items()):
            if of == "query":
                lines += change(ranking) if number % share == 0 else ranking
            else:
                changed = change(ranking)
                lines += [
                    new if index % share == 0 else old
                    for index, (old, new) in enumerate(zip(ranking, changed, strict=True))
                ]
        return replace(files, run=lines)

    return made


def with_scores(score_of: Callable[[int, float, int], object]) -> Callable[..., Any]:
    """Return a change of the scores of a ranking: score_of(rank from 1, score, length)."""
    return lambda ranking: [
        (query, doc, rank, f"{score_of(number, float(score), len(ranking))}")
        for number, (query, doc, rank, score) in enumerate(ranking, start=1)
    ]


def with_ids(change: Callable[[str], str]) -> Callable[..., Any]:
    """Return a change of the document ids of a ranking."""
    return lambda ranking: [(query, change(doc), *rest) for query, doc, *rest in ranking]


def with_query_ids(change: Callable[[str], str]) -> Callable[..., Any]:
    """Return a change of the query id of a ranking."""
    return lambda ranking: [(change(query), *rest) for query, *rest in ranking]


def shuffled_scores(ranking: Sequence[Line]) -> list[Line]:
    """Return a ranking whose scores belong to other documents."""
    scores = [line[3] for line in ranking]
    random.Random(len(scores)).shuffle(scores)  # noqa: S311 - no secret
    return [
        (query, doc, rank, score)
        for (query, doc, rank, _), score in zip(ranking, scores, strict=True)
    ]


def other_rankings(order: Callable[[list[str]], list[str]]) -> Callable[[Files], Files]:
    """Return a mistake that gives rankings to other queries.

    Args:
        order: gets the queries and returns, for each, the query whose ranking it gets.
    """

    def made(files: Files) -> Files:
        rankings = by_query(files.run)
        queries = [
            query for query in dict.fromkeys(line[0] for line in files.qrels) if query in rankings
        ]
        sources = dict(zip(queries, order(queries), strict=True))
        return replace(
            files,
            run=[
                (query, doc, rank, score)
                for query, source in sources.items()
                for _, doc, rank, score in rankings[source]
            ],
        )

    return made


def rotated(queries: list[str]) -> list[str]:
    """Return for each query the one before it."""
    return queries[-1:] + queries[:-1]


def rotated_in_a_third(queries: list[str]) -> list[str]:
    """One query is missing from the middle of a file, and the rest of its lines are off by one."""
    begin = len(queries) - len(queries) // 3
    return queries[:begin] + rotated(queries[begin:])


def exchanged(queries: list[str]) -> list[str]:
    """Return for each query another one at random."""
    other = list(queries)
    random.Random(0).shuffle(other)  # noqa: S311 - no secret
    return other


def change_qrels(change: Callable[..., Any]) -> Callable[[Files], Files]:
    """Return a mistake that changes the judgements."""
    return lambda files: replace(files, qrels=change(files.qrels))


def with_grades(grade_of: Callable[[str], str]) -> Callable[[Files], Files]:
    """Return a mistake that changes the grades."""
    return change_qrels(
        lambda qrels: [(query, doc, grade_of(grade)) for query, doc, grade in qrels]
    )


def judgements_as_run(files: Files) -> Files:
    """Return the judgements in the place of the run, with grades as scores."""
    ranked = sorted(files.qrels, key=lambda line: -float(line[2]))
    return replace(files, run=[(query, doc, "1", grade) for query, doc, grade in ranked])


def sorted_by_labels(files: Files) -> Files:
    """Return a run whose documents are sorted by their grades, as where a label is a feature."""
    grade_of = {(query, doc): float(grade) for query, doc, grade in files.qrels}
    return change_run(
        lambda ranking: [
            (query, doc, str(rank), str(1000.0 - rank))
            for rank, (query, doc, *_) in enumerate(
                sorted(ranking, key=lambda line: -grade_of.get((line[0], line[1]), 0.0)), start=1
            )
        ]
    )(files)


def judged_from_the_run(files: Files) -> Files:
    """Return judgements of the first ten documents of the run, whose grades are as they were."""
    grade_of = {(query, doc): grade for query, doc, grade in files.qrels}
    return replace(
        files,
        qrels=[
            (query, doc, grade_of.get((query, doc), "0"))
            for query, ranking in by_query(files.run).items()
            for _, doc, *_ in sorted(ranking, key=lambda line: -float(line[3]))[:10]
        ],
    )


def swapped_columns(files: Files) -> Files:
    """Return a run with queries and documents exchanged."""
    return replace(files, run=[(doc, query, rank, score) for query, doc, rank, score in files.run])


def row_numbers(files: Files) -> Files:
    """Return a run with the number of each document in place of its id."""
    row_of: dict[str, str] = {}
    for _, doc, *_ in files.run:
        row_of.setdefault(doc, str(len(row_of)))
    return replace(
        files, run=[(query, row_of[doc], rank, score) for query, doc, rank, score in files.run]
    )


def cut(files: Files) -> Files:
    """Return a run that ends after two thirds of its lines."""
    keep = 2 * len(files.run) // 3
    return replace(files, run=files.run[:keep])


def subtopics(files: Files) -> Files:
    """Every document judged for two subtopics, relevant for the second only, as ndeval's qrels."""
    return replace(
        files,
        qrels=[(query, doc, text) for query, doc, grade in files.qrels for text in ("0", grade)],
    )


def same_ranking(files: Files) -> Files:
    """Return a run with the first ranking for every query."""
    first = next(iter(by_query(files.run).values()))
    return replace(
        files,
        run=[
            (query, doc, rank, score)
            for query in by_query(files.run)
            for _, doc, rank, score in first
        ],
    )


def batched(files: Files) -> Files:
    """Return a run in which four queries at a time have the ranking of their first one."""
    rankings = by_query(files.run)
    queries = list(rankings)
    return replace(
        files,
        run=[
            (query, doc, rank, score)
            for number, query in enumerate(queries)
            for _, doc, rank, score in rankings[queries[number - number % 4]]
        ],
    )


def inverted(files: Files) -> Files:
    """Return judgements whose lowest grade is the best."""
    highest = max(int(float(grade)) for *_, grade in files.qrels)
    return with_grades(lambda grade: str(highest - max(0, int(float(grade)))))(files)


def shifted_id(doc: str) -> str:
    """Return an id that is 1 less, if it is a number."""
    return str(int(doc) - 1) if doc.isdecimal() else doc


def rounded_id(doc: str) -> str:
    """Return an id with six digits, as a table of floats prints it, if it is a number."""
    return f"{int(doc):e}" if doc.isdecimal() else doc


ALL = 1
THIRD = 3
#: Why it cannot be seen, for those that cannot.
CANNOT_BE_SEEN = {
    "grades made binary": "grades 0 and 1 are what most data sets have",
    "a third of the judgements lost": "a smaller pool looks the same",
    "half of the judged queries lost": "many runs are for more queries than are judged",
}
MISTAKES: dict[str, Callable[[Files], Files]] = {
    "scores negated": change_run(with_scores(lambda _, score, __: -score)),
    "scores negated in a third": change_run(with_scores(lambda _, score, __: -score), share=THIRD),
    "distances, the nearest first": change_run(with_scores(lambda rank, _, __: 0.1 + rank / 1000)),
    "the rank as score": change_run(with_scores(lambda rank, _, __: rank)),
    "the rank as score in a third": change_run(with_scores(lambda rank, _, __: rank), share=THIRD),
    "scores of other documents": change_run(shuffled_scores),
    "scores of other documents in a third": change_run(shuffled_scores, share=THIRD),
    "constant scores": change_run(with_scores(lambda *_: 1.0)),
    "constant scores in a third": change_run(with_scores(lambda *_: 1.0), share=THIRD),
    "rank and score swapped": change_run(
        lambda ranking: [(query, doc, score, rank) for query, doc, rank, score in ranking]
    ),
    "scores rounded to whole numbers": change_run(with_scores(lambda _, score, __: round(score))),
    "a score that is not a number": change_run(
        with_scores(lambda rank, score, _: "nan" if rank == 3 else score)
    ),
    "decimal commas": change_run(
        lambda ranking: [(*line[:3], line[3].replace(".", ",")) for line in ranking]
    ),
    "a prefix on document ids": change_run(with_ids("msmarco_{}".format)),
    "a prefix on a third of the document ids": change_run(
        with_ids("msmarco_{}".format), share=THIRD, of="line"
    ),
    "a suffix on document ids": change_run(with_ids("{}#0".format)),
    "a suffix on a third of the document ids": change_run(
        with_ids("{}#0".format), share=THIRD, of="line"
    ),
    "document ids read as floats": change_run(with_ids("{}.0".format)),
    "a third of the document ids read as floats": change_run(
        with_ids("{}.0".format), share=THIRD, of="line"
    ),
    "document ids in quotation marks": change_run(with_ids('"{}"'.format)),
    "a third of the document ids in quotation marks": change_run(
        with_ids('"{}"'.format), share=THIRD, of="line"
    ),
    "document ids padded with zeros": change_run(with_ids(lambda doc: doc.zfill(12))),
    "a third of the document ids padded": change_run(
        with_ids(lambda doc: doc.zfill(12)), share=THIRD, of="line"
    ),
    "document ids in upper case": change_run(with_ids(str.upper)),
    "row numbers as document ids": row_numbers,
    "document ids cut to four characters": change_run(with_ids(lambda doc: doc[:4])),
    "queries and documents swapped": swapped_columns,
    "query ids read as floats": change_run(with_query_ids("{}.0".format)),
    "a third of the query ids read as floats": change_run(
        with_query_ids("{}.0".format), share=THIRD
    ),
    "a prefix on query ids": change_run(with_query_ids("q{}".format)),
    "a prefix on a third of the query ids": change_run(with_query_ids("q{}".format), share=THIRD),
    "rankings shifted by one query": other_rankings(rotated),
    "rankings shifted by one query in the last third": other_rankings(rotated_in_a_third),
    "rankings exchanged at random": other_rankings(exchanged),
    "the same ranking for every query": same_ranking,
    "the ranking of every fourth query for four": batched,
    "document ids 1 less": change_run(with_ids(shifted_id)),
    "document ids as floats of six digits": change_run(with_ids(rounded_id)),
    "the last third of the run lost": cut,
    "the last line of the run cut off": lambda files: replace(files, end="42 Q0 12"),
    "the run written twice into one file": lambda files: replace(
        files, run=[*files.run, *files.run]
    ),
    "a header in the run": lambda files: replace(files, header="query q0 doc rank score tag\n"),
    "the judgements as the run": judgements_as_run,
    "rankings sorted by the labels": sorted_by_labels,
    "judgements made from the run": judged_from_the_run,
    "judgements and run swapped": lambda files: replace(files, first=False),
    "all grades 0": with_grades(lambda _: "0"),
    "grades 1 less, so that few are relevant": with_grades(
        lambda grade: str(int(float(grade)) - 1)
    ),
    "grades from 1 on instead of 0": with_grades(lambda grade: str(int(float(grade)) + 1)),
    "grades inverted": inverted,
    "numbers of lines as grades": change_qrels(
        lambda qrels: [(query, doc, str(number)) for number, (query, doc, _) in enumerate(qrels)]
    ),
    "grades in the column of documents": change_qrels(
        lambda qrels: [
            (query, grade, doc if doc.isdecimal() else "1") for query, doc, grade in qrels
        ]
    ),
    "judgements by subtopic": subtopics,
    "the last line of the judgements cut off": lambda files: replace(files, qrels_end="42 0"),
    "half of the judged queries lost": change_qrels(lambda qrels: qrels[: len(qrels) // 2]),
    "only the first ten documents kept": change_run(lambda ranking: ranking[:10]),
    "grades made binary": with_grades(lambda grade: str(min(1, int(float(grade))))),
    "a third of the judgements lost": change_qrels(
        lambda qrels: [line for number, line in enumerate(qrels) if number % 3]
    ),
}


# The tools


def evaluate_with(
    tool: str, qrels: Path, run: Path
) -> tuple[str, list[float], list[str], list[str]]:
    """Return ("refused" or "", means, warnings, notes) of a tool."""
    return _EVALUATE[tool](qrels, run)


def _beir_eval(qrels: Path, run: Path) -> tuple[str, list[float], list[str], list[str]]:
    import typer.testing  # noqa: PLC0415 - in its own process

    from beir_eval.cli.app import app  # noqa: PLC0415 - in its own process
    from beir_eval.display.document import CHECK_FIRST  # noqa: PLC0415 - likewise

    options = [part for measure in MEASURES["beir-eval"] for part in ("-m", measure)]
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        done = typer.testing.CliRunner().invoke(
            app,
            ["evaluate", str(qrels), str(run), *options, "-o", str(results)],
            env={"COLUMNS": "200"},
        )
        if done.exit_code:
            return "refused", [], [], []
        loaded = json.loads(results.read_text())[0]
    from beir_eval import EvaluationResult  # noqa: PLC0415 - in its own process

    result = EvaluationResult.model_validate(loaded)
    # Warnings are on both streams.
    lines = list(dict.fromkeys(line for line in done.output.splitlines() if line))
    warned = [line for line in lines if line.startswith(("warning", CHECK_FIRST))]
    return (
        "",
        [result[name] for name in MEASURES["beir-eval"]],
        warned,
        [line for line in lines if line not in warned and not line.startswith(("run ", "system"))],
    )


def _beir_eval_on_dicts(qrels: Path, run: Path) -> tuple[str, list[float], list[str], list[str]]:
    from beir_eval import evaluate, read_qrels, read_run  # noqa: PLC0415 - in its own process

    names, sentences = MEASURES["beir-eval"], list[list[str]]()

    def call() -> list[float]:
        result = evaluate(read_qrels(qrels).as_dict(), read_run(run).as_dict(), names)
        warned = result.warnings()
        sentences.extend([warned, [note for note in result.notes() if note not in warned]])
        return [result[name] for name in names]

    refused, means, caught, _ = _quietly(call)
    warned, notes = sentences or ([], [])
    return refused, means, [*caught, *warned], notes


def _quietly(call: Callable[[], list[float]]) -> tuple[str, list[float], list[str], list[str]]:
    """Return the means, and what Python's warnings and the two streams say."""
    printed = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("always")
        try:
            means = call()
        except Exception as error:  # noqa: BLE001 - whatever a tool raises refuses
            return "refused", [], [str(error)], []
    texts = [str(warning.message) for warning in caught]
    # Warnings about a tool's own dependencies say nothing about the files.
    texts = [
        text for text in texts if not any(word in text.lower() for word in ("numba", "deprecat"))
    ]
    return "", means, [*texts, *printed.getvalue().split("\n")[:-1]], []


def _pytrec_eval(qrels: Path, run: Path) -> tuple[str, list[float], list[str], list[str]]:
    import pytrec_eval  # noqa: PLC0415 - in its own process

    def call() -> list[float]:
        with qrels.open() as judged, run.open() as ranked:
            judgements, rankings = pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(ranked)
        evaluator = pytrec_eval.RelevanceEvaluator(judgements, {"ndcg_cut.10", "map", "recall.100"})
        scores = list(evaluator.evaluate(rankings).values())
        return [
            sum(query[name] for query in scores) / len(scores) for name in MEASURES["pytrec_eval"]
        ]

    return _quietly(call)


def _ranx(qrels: Path, run: Path) -> tuple[str, list[float], list[str], list[str]]:
    import ranx  # noqa: PLC0415 - in its own process

    def call() -> list[float]:
        judgements = ranx.Qrels.from_file(str(qrels), kind="trec")
        rankings = ranx.Run.from_file(str(run), kind="trec")
        means = ranx.evaluate(judgements, rankings, MEASURES["ranx"], make_comparable=True)
        return [float(means[name]) for name in MEASURES["ranx"]]

    return _quietly(call)


def _ir_measures(qrels: Path, run: Path) -> tuple[str, list[float], list[str], list[str]]:
    import ir_measures  # noqa: PLC0415 - in its own process

    def call() -> list[float]:
        measures = [ir_measures.parse_measure(name) for name in MEASURES["ir_measures"]]
        means = ir_measures.calc_aggregate(
            measures,
            ir_measures.read_trec_qrels(str(qrels)),  # type: ignore[no-untyped-call]
            ir_measures.read_trec_run(str(run)),  # type: ignore[no-untyped-call]
        )
        return [means[measure] for measure in measures]

    return _quietly(call)


_EVALUATE = {
    "beir-eval, dicts": _beir_eval_on_dicts,
    "beir-eval": _beir_eval,
    "pytrec_eval": _pytrec_eval,
    "ranx": _ranx,
    "ir_measures": _ir_measures,
}


class Tool:
    """A tool in a process of its own, because some end the process on a wrong file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._pool = self._start()

    @staticmethod
    def _start() -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))

    def evaluate(self, qrels: Path, run: Path) -> tuple[str, list[float], list[str], list[str]]:
        """Return what ``evaluate_with`` does; a process that ends refuses."""
        try:
            return self._pool.submit(evaluate_with, self.name, qrels, run).result()
        except BrokenProcessPool:
            self._pool = self._start()
            return "refused", [], ["the process ended"], []


# The table


def real_files(folder: str, qrels: str) -> dict[str, Files]:
    """Return {run: its files} of a data set."""
    from beir_eval import read_qrels  # noqa: PLC0415 - in its own process
    from beir_eval.core.files import FileContent, file_stem  # noqa: PLC0415 - likewise

    judged = read_qrels(DATA / qrels)
    grades = judged.grades.astype(int).tolist()
    queries = [judged.query_ids[row] for row in judged.row.tolist()]
    lines = [
        (query, doc, str(grade))
        for query, doc, grade in zip(queries, judged.doc_ids, grades, strict=True)
    ]
    if not folder:
        return {name: Files(lines, made_run(lines, *shares)) for name, shares in MADE_RUNS.items()}
    runs = {}
    seen = [path.name for runs_of, *_ in SETS for path in (DATA / runs_of).iterdir()]
    for path in sorted((DATA / folder).glob("*.trec*")):
        if path.name.startswith(LEFT_OUT) or (folder.startswith("published") and path.name in seen):
            continue
        fields = [line.split() for line in FileContent(path).text().splitlines()]
        ranked = [(line[0], line[2], line[3], line[4]) for line in fields]
        runs[file_stem(path)] = Files(lines, ranked)
    return runs


def made_run(judged: Sequence[tuple[str, str, str]], share: float, likely: float) -> list[Line]:
    """Return a run that finds a share of the relevant documents of each query, early ones first.

    The other documents have ids as the judged ones, with other digits.

    Args:
        judged: (query, document, grade as text).
        share: how many of the relevant documents are in a ranking.
        likely: how likely the next document of a ranking is one of them, while there are any.
    """
    rng = random.Random(1)  # noqa: S311 - no secret
    doc_ids = [doc for _, doc, _ in judged]
    relevant: dict[str, list[str]] = {query: [] for query, _, _ in judged}
    for query, doc, grade in judged:
        if int(grade) > 0 and rng.random() < share:
            relevant[query].append(doc)
    lines: list[Line] = []
    for query, retrieved in relevant.items():
        ranking: dict[str, None] = {}
        waiting = rng.sample(retrieved, len(retrieved))
        while len(ranking) < MADE_DEPTH:
            doc = re.sub(r"\d", lambda _: rng.choice("0123456789"), rng.choice(doc_ids))
            ranking[waiting.pop() if waiting and rng.random() < likely else doc] = None
        score = rng.uniform(15, 30)
        for rank, doc in enumerate(ranking, start=1):
            score -= rng.expovariate(8)
            lines.append((query, doc, str(rank), f"{score:.4f}"))
    return lines


def outcome_of(right: Any, wrong: Any) -> str:
    """Return the outcome of a mistake, from what a tool says about the right and wrong files."""
    refused, means, warned, notes = wrong
    if refused:
        return "refused"
    # What the right files are warned of too, with other counts of judgements, is no answer.
    if set(map(_without_counts, warned)) - set(map(_without_counts, right[2])):
        return "warned"
    if means == right[1]:
        return "no effect"
    # A line that differs in its numbers only says nothing about the mistake.
    kinds = [{re.sub(r"[\d.,%<>]+", "#", line) for line in lines} for lines in (notes, right[3])]
    return "noted" if kinds[0] - kinds[1] else "silent"


def _without_counts(warning: str) -> str:
    """Return a warning without its counts of judgements."""
    return re.sub(r"[\d,]+( of [\d,]+)? judgements", "judgements", warning)


def look(
    only: Sequence[str] = (),
    names: Sequence[str] = TOOLS,
    sets: Sequence[tuple[str, str, str]] = SETS,
) -> tuple[dict[str, dict[str, Counter[str]]], list[str]]:
    """Return {tool: {mistake: how often each outcome}}, and the warnings of the right files."""
    tools = {name: Tool(name) for name in names}
    counts: dict[str, dict[str, Counter[str]]] = {
        name: {mistake: Counter() for mistake in MISTAKES} for name in names
    }
    alarms: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for runs, qrels, title in sets:
            for system, files in real_files(runs, qrels).items():
                paths = files.write(folder)
                right = {tool: tools[tool].evaluate(*paths) for tool in names}
                alarms += [f"{title}, {system}: {text}" for text in right[names[0]][2]]
                for mistake, make in MISTAKES.items():
                    if only and mistake not in only:
                        continue
                    changed = make(files)
                    if changed == files:
                        for tool in names:
                            counts[tool][mistake]["not possible"] += 1
                        continue
                    paths = changed.write(folder)
                    for tool in names:
                        outcome = outcome_of(right[tool], tools[tool].evaluate(*paths))
                        counts[tool][mistake][outcome] += 1
                        if tool.startswith("beir-eval") and outcome in {"silent", "noted"}:
                            print(
                                f"{outcome}, {tool}: {mistake}: {title}, {system}", file=sys.stderr
                            )
    return counts, alarms


def share_text(counts: Counter[str]) -> str:
    """Return the outcomes of a mistake, the commonest first."""
    possible = {outcome: number for outcome, number in counts.items() if outcome != "not possible"}
    if not possible:
        return "not possible"
    if len(possible) == 1:
        return next(iter(possible))
    ordered = sorted(possible.items(), key=lambda item: -item[1])
    return ", ".join(f"{outcome} {number}" for outcome, number in ordered)


def totals(counts: dict[str, Counter[str]]) -> Counter[str]:
    """Return how often each outcome occurs, over the mistakes that can be seen."""
    total: Counter[str] = Counter()
    for mistake, outcomes in counts.items():
        if mistake not in CANNOT_BE_SEEN:
            total.update(outcomes)
    return total


def table(counts: dict[str, dict[str, Counter[str]]]) -> str:
    """Return the table as Markdown: a row for each mistake, and the shares below."""
    rows = [f"| mistake | {' | '.join(counts)} |", f"|---|{'---|' * len(counts)}"]
    for mistake in MISTAKES:
        cells = [share_text(of_tool[mistake]) for of_tool in counts.values()]
        rows.append(f"| {mistake} | {' | '.join(cells)} |")
    for title, wanted in (
        ("refused or warned of", ("refused", "warned")),
        ("noted", ("noted",)),
        ("silent", ("silent",)),
    ):
        cells = []
        for of_tool in counts.values():
            total = totals(of_tool)
            number = sum(total[outcome] for outcome in ("refused", "warned", "noted", "silent"))
            share = sum(total[outcome] for outcome in wanted)
            cells.append(f"{share / max(1, number):.1%} ({share:,} of {number:,})")
        rows.append(
            f"| **{title}**, of what can be seen and changes a number | {' | '.join(cells)} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], help="a mistake; repeat it for more")
    parser.add_argument("--tool", action="append", choices=TOOLS, help="repeat it for more")
    parser.add_argument("--unseen", action="store_true", help="on data that nothing was tuned with")
    options = parser.parse_args()
    sets = UNSEEN_SETS if options.unseen else SETS
    counts, alarms = look(options.only, options.tool or TOOLS, sets)
    print(table(counts))
    print("\nCannot be seen:")
    for mistake, reason in CANNOT_BE_SEEN.items():
        if mistake in MISTAKES:
            print(f"- {mistake}: {reason}")
    print("\nWarnings on the right files:")
    for text, number in Counter(text.partition(": ")[2] for text in alarms).items():
        print(f"- {number}: {text}")


if __name__ == "__main__":
    main()
