"""Compare values that others published with ours, by default, to the last printed digit.

    BEIR_EVAL_REALDATA=folder python benchmarks/published.py [SYSTEM ...]

Prints for each source how many values are equal, by measure, and each difference with its cause: a
computation that gives the published value. Ends with status 1 if a difference has no cause, and
with 2 if data is missing. Without SYSTEM, all published systems are compared.
"""

from __future__ import annotations

import gzip
import math
import os
import sys
import warnings
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from beir_eval import IPrec, evaluate, read_qrels
from beir_eval.errors import BeirEvalWarning
from beir_eval.measures import Measure, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from beir_eval import EvaluationResult, Qrels

FUSED = "fused multiply-add"
RECALL_LEVELS = [tenths / 10 for tenths in range(11)]
SUMMAND = 0.9


class Value(NamedTuple):
    """A published value and ours, both as printed, and why they differ ("" if not known).

    The query is "all" for a value over all queries.
    """

    measure: str
    query: str
    system: str
    published: str
    ours: str
    cause: str


class Compared(NamedTuple):
    """The values of a source, and lines that show the computation behind each cause."""

    values: list[Value]
    computations: list[str]


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


def scores_of(result: EvaluationResult, measure: Measure) -> dict[str, float]:
    """Return {query: score}, with the mean or sum as the score of "all"."""
    by_query = zip(result.query_ids, result.scores(measure).tolist(), strict=True)
    return {**dict(by_query), "all": result[measure]}


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


def trec_deep_learning_2021(data: Path, systems: Collection[str]) -> Compared:
    """Compare what trec_eval printed for runs of TREC DL 2021: all its measures, each query.

    Its output has the name of each run (runid) too, which is no number and is left out.
    """
    published: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    with gzip.open(data / "published/dl21/expected.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            system, name, query, text = line.rstrip("\n").split("\t")
            if name != "runid" and (not systems or system in systems):
                published[system][name, query] = text
    qrels = read_qrels(data / "qrels/dl21-passage.trec.gz")
    names = dict.fromkeys(name for texts in published.values() for name, _ in texts)
    levels = [level for level in levels_of(qrels) if level.measure in names]
    measures = {name: parse(name) for name in names}
    requested = [*measures.values(), *dict.fromkeys(level.fused for level in levels)]
    values, equal = [], Counter[tuple[str, Level]]()
    for system, texts in published.items():
        result = evaluate(qrels, data / f"published/dl21/{system}.trec.gz", requested)
        ours = {name: scores_of(result, measure) for name, measure in measures.items()}
        fused = {level.measure: dict(ours[level.measure]) for level in levels}
        for level in levels:
            fused[level.measure][level.query] = scores_of(result, level.fused)[level.query]
        for scores in fused.values():
            del scores["all"]
            scores["all"] = math.fsum(scores.values()) / len(scores)
        for (name, query), text in texts.items():
            printed, with_fused = (
                printed_like(text, scores.get(name, {}).get(query)) for scores in (ours, fused)
            )
            cause = FUSED if with_fused == text != printed else ""
            values.append(Value(name, query, system, text, printed, cause))
            for level in levels:
                if (name, query) == (level.measure, level.query):
                    equal["ours", level] += printed == text
                    equal[FUSED, level] += with_fused == text
    computations = [
        f"query {level.query}, {level.recall} · {level.num_relevant} + {SUMMAND}: "
        f"{level.sums[0]!r} rounded twice, so {int(level.sums[0])} documents "
        f"({equal['ours', level]} of {len(published)} published values are equal); "
        f"{level.sums[1]!r} by a {FUSED}, so {int(level.sums[1])} ({equal[FUSED, level]} are)"
        for level in levels
    ]
    return Compared(values, computations)


#: {source: compares its values for some systems, or for all if none is named}
SOURCES: dict[str, Callable[[Path, Collection[str]], Compared]] = {
    "TREC Deep Learning 2021, passages: trec_eval's output": trec_deep_learning_2021,
}


def print_source(source: str, compared: Compared) -> None:
    """Print the values by measure and each difference, as tables in Markdown."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for value in compared.values:
        differs = value.ours != value.published
        for measure in ("all measures", value.measure):
            for column, counted in enumerate(
                (True, not differs, differs, differs and not value.cause)
            ):
                counts[measure][column] += counted
    print(f"## {source}\n\n| measure | values | equal | different | without a cause |")
    print("|---|--:|--:|--:|--:|")
    for measure, numbers in counts.items():
        print(f"| {measure} | {' | '.join(f'{number:,}' for number in numbers)} |")
    print("\n| measure | query | system | published | ours | cause |\n|---|---|---|--:|--:|---|")
    for value in sorted(compared.values):
        if value.ours != value.published:
            print(f"| {' | '.join((*value[:5], value.cause or 'not known'))} |")
    print("", *compared.computations, "", sep="\n")


def main(*systems: str) -> int:
    """Compare every source and return the exit status."""
    # One of them says that grade 1 counts as relevant: in the published values it does.
    warnings.simplefilter("ignore", BeirEvalWarning)
    data = Path(os.environ.get("BEIR_EVAL_REALDATA", "$BEIR_EVAL_REALDATA"))
    values: list[Value] = []
    for source, compare in SOURCES.items():
        try:
            compared = compare(data, systems)
        except FileNotFoundError as error:
            print(f"{source}: expected in {error.filename}, which is missing", file=sys.stderr)
            return 2
        print_source(source, compared)
        values += compared.values
    if unknown := set(systems) - {value.system for value in values}:
        print("no values are published of", ", ".join(sorted(unknown)), file=sys.stderr)
        return 2
    return int(any(value.ours != value.published and not value.cause for value in values))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
