"""``Validation``: what was read (``InputSummary``) and what was found."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel

from beir_eval.core.saved import FROZEN, Saved
from beir_eval.errors import escape_controls, number_of
from beir_eval.inspection.finding import LEVELS, Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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


#: How many files or systems with the same finding are named.
_MOST_SUBJECTS = 3


class Validation(Saved):
    """What ``validate`` read and found.

    Attributes:
        inputs: the size of each input: qrels, corpus, queries, runs.
        findings: everything suspicious, errors first.
    """

    WHAT: ClassVar[str] = "validation"
    REMEDY: ClassVar[str] = "validate again"

    inputs: tuple[InputSummary, ...]
    findings: tuple[Finding, ...]

    def at_level(self, level: Level) -> tuple[Finding, ...]:
        """Return the findings of one level.

        Args:
            level: "error", "warning" or "note".
        """
        return tuple(finding for finding in self.findings if finding.level == level)

    def has_errors(self, *, strict: bool = False) -> bool:
        """Return whether there is an error among the findings.

        Args:
            strict: whether warnings count as errors.
        """
        return bool(self.at_level("error") or (strict and self.at_level("warning")))

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (level of indentation, text) of each line of a readable summary."""
        for summary in self.inputs:
            yield 0, summary.sentence()
        if not self.findings:
            yield 0, "nothing found"
        for level in LEVELS:
            findings = self.at_level(level)
            if not findings:
                continue
            yield 0, ""
            yield 0, number_of(len(findings), level)
            for code in dict.fromkeys(finding.code for finding in findings):
                yield 1, code
                yield from _lines_of([finding for finding in findings if finding.code == code])

    def __str__(self) -> str:
        """Return the summary as text, with control characters of names as escapes."""
        return "\n".join(f"{'  ' * indent}{escape_controls(text)}" for indent, text in self.lines())

    def __repr__(self) -> str:
        """Return the number of findings of each level."""
        counts = ", ".join(number_of(len(self.at_level(level)), level) for level in LEVELS)
        return f"Validation({counts})"


def _lines_of(findings: Sequence[Finding]) -> Iterator[tuple[int, str]]:
    """Yield the lines of the findings of one code: equal ones once, the remedy at the end."""
    subjects: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for finding in findings:
        subjects[finding.fact, finding.examples].append(finding.subject)
    for (fact, examples), names in subjects.items():
        more = len(names) - _MOST_SUBJECTS
        listed = ", ".join(names[:_MOST_SUBJECTS]) + (f" and {more} more" if more > 0 else "")
        yield 2, f"{listed}: {fact}"
        if examples:
            yield 3, f"for example: {'; '.join(examples)}"
    for remedy in dict.fromkeys(finding.remedy for finding in findings):
        yield 2, f"remedy: {remedy}"
