"""Records of a validation: ``Finding`` and ``InputSummary``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from beir_eval.core.saved import FROZEN
from beir_eval.errors import number_of, shown
from beir_eval.validation.codes import FINDING_CODES, Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from beir_eval.evaluation.suspicions.suspicion import Suspicion

#: The largest number of examples of a finding.
MOST_EXAMPLES = 3


class Finding(BaseModel):
    """One suspicious property of an input.

    Attributes:
        code: its name, one of ``FINDING_CODES``.
        level: "error", "warning" or "note".
        subject: the file or the system that it is about.
        count: how many queries, documents, judgements or lines it concerns.
        total: of how many; None if that is not known.
        sentence: what was found.
        examples: up to three of them.
        remedy: what to do.
    """

    model_config = FROZEN

    code: str
    level: Level
    subject: str
    count: int
    total: int | None = None
    sentence: str
    examples: tuple[str, ...] = ()
    remedy: str

    @classmethod
    def from_code(  # noqa: PLR0913 - its fields
        cls,
        code: str,
        subject: str,
        sentence: str,
        *,
        count: int,
        total: int | None = None,
        examples: Iterable[str] = (),
    ) -> Self:
        """Return a finding with the level and the remedy of its code.

        Args:
            code: one of ``FINDING_CODES``.
            subject: the file or the system.
            sentence: what was found.
            count: how many of them.
            total: of how many.
            examples: the first three are kept.
        """
        row = FINDING_CODES[code]
        return cls(
            code=code,
            level=row.level,
            subject=subject,
            count=count,
            total=total,
            sentence=sentence,
            examples=tuple(list(examples)[:MOST_EXAMPLES]),
            remedy=row.remedy,
        )


def findings_of(subject: str, suspicions: Iterable[Suspicion]) -> Iterator[Finding]:
    """Yield suspicions as findings.

    Args:
        subject: the file or the system that they are about.
        suspicions: what evaluations look for too.
    """
    for suspicion in suspicions:
        yield Finding.from_code(
            suspicion.code,
            subject,
            suspicion.fact,
            count=suspicion.count,
            total=suspicion.total,
            examples=suspicion.examples,
        )


class InputSummary(BaseModel):
    """The size of one input that was validated.

    Attributes:
        role: "qrels", "run", "corpus" or "queries".
        name: the file, or the name of the system.
        queries: the number of its queries; None for a corpus.
        documents: the number of its judgements, retrieved documents or documents; None for queries.
    """

    model_config = FROZEN

    role: Literal["qrels", "run", "corpus", "queries"]
    name: str
    queries: int | None = None
    documents: int | None = None

    def sentence(self) -> str:
        """Return the size in words."""
        nouns = {"qrels": "judgement", "run": "retrieved document", "corpus": "document"}
        queries = "" if self.queries is None else number_of(self.queries, "query", "queries")
        if self.documents is None:
            return f"{self.name}: {queries}"
        documents = f"{self.name}: {number_of(self.documents, nouns[self.role])}"
        return f"{documents} of {queries}" if queries else documents


def pair_texts(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return each pair of ids as text, for examples."""
    return [f"{shown(first)} and {shown(second)}" for first, second in pairs]
