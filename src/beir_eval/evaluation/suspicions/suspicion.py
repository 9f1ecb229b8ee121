"""``Suspicion``: a sign of a mistake, and how much must be seen before it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from pydantic import BaseModel, field_validator

from beir_eval.core.saved import FROZEN
from beir_eval.inspection.texts import check_code, remedy_of

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
        code: what it is, one of ``inspection/texts.toml``.
        fact: what was seen, as a clause.
        count: how many rankings, judgements or ids it concerns.
        total: of how many; None if that is not known.
        examples: up to three of them.
    """

    model_config = FROZEN

    code: str
    fact: str
    count: int
    total: int | None = None
    examples: tuple[str, ...] = ()

    _check_code = field_validator("code")(check_code)

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
    by_code: dict[str, Suspicion] = {}
    for suspicion in chain.from_iterable(parts):
        by_code.setdefault(suspicion.code, suspicion)
    return tuple(by_code.values())
