"""``Suspicion``: a sign of a mistake, and how much must be seen before it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from beir_eval.core.saved import FROZEN
from beir_eval.inspection.texts import remedy_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: More than this share of the rankings must have a property, ...
MOST_RANKINGS = 0.5
#: ... or so many rankings of so many documents each, and this share of them.
LEAST_RANKINGS, LEAST_LONG, LEAST_SHARE = 3, 5, 0.1
#: Fewer queries show nothing about all of them.
LEAST_QUERIES = 6
#: How many different documents, or judgements, show something.
LEAST_DIFFERENT = 30
#: How many documents of a ranking show whose ranking it is.
TOP = 10
#: By how many standard errors a number must differ from what is expected by chance.
STANDARD_ERRORS = 3.0
#: How many examples a suspicion has.
MOST_EXAMPLES = 3


#: The name of a suspicion; those that ``validate`` has too have its codes.
SuspicionCode = Literal[
    "swapped-files",
    "no-relevant-documents",
    "negative-grades",
    "level-above-grades",
    "deep-learning-grades",
    "grades-without-zero",
    "numbered-grades",
    "same-judgements",
    "fractional-grades",
    "grades-are-scores",
    "ascending-scores",
    "constant-scores",
    "tied-scores",
    "swapped-ranks-and-scores",
    "ranks-against-scores",
    "relevant-ranked-last",
    "inverted-grades",
    "judgements-as-run",
    "ids-nearly-match",
    "rounded-ids",
    "rankings-of-other-queries",
    "rankings-without-judged",
    "same-ranking",
    "same-queries",
    "nothing-retrieved",
    "unnamed-judgements",
    "unnamed-documents",
    "same-names",
    "parts-of-judged",
    "without-parent",
    "left-out-measure",
]
#: What is about the judgements, whatever the run.
_OF_QRELS = (
    "no-relevant-documents",
    "negative-grades",
    "level-above-grades",
    "deep-learning-grades",
    "grades-without-zero",
    "numbered-grades",
    "same-judgements",
    "fractional-grades",
    "grades-are-scores",
)


class Suspicion(BaseModel):
    """A sign of a mistake in the judgements or in a run.

    Attributes:
        code: what it is.
        fact: what was seen, as a clause.
        count: how many rankings, judgements or ids it concerns.
        total: of how many; None if that is not known.
        examples: up to three of them.
    """

    model_config = FROZEN

    code: SuspicionCode
    fact: str
    count: int
    total: int | None = None
    examples: tuple[str, ...] = ()

    @property
    def is_about_qrels(self) -> bool:
        """Whether it is about the judgements, so that it is the same for every run."""
        return self.code in _OF_QRELS

    @property
    def sentence(self) -> str:
        """What was seen and what to do."""
        examples = f" ({'; '.join(self.examples)})" if self.examples else ""
        return f"{self.fact}{examples}. {remedy_of(self.code).removesuffix('.')}"


def suspicions_of_parts(parts: Iterable[Sequence[Suspicion]]) -> tuple[Suspicion, ...]:
    """Return the suspicions of results over disjoint queries; the first of each code is kept."""
    by_code: dict[SuspicionCode, Suspicion] = {}
    for suspicion in chain.from_iterable(parts):
        by_code.setdefault(suspicion.code, suspicion)
    return tuple(by_code.values())
