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

    def words(self) -> str:
        """Return the size in words: of a run, the mean number of entries a query, rounded."""
        queries = number_of(self.queries or 0, "query")
        documents = self.documents or 0
        if self.role == "run":
            mean = number_of(round(documents / (self.queries or 1)), "entry")
            return f"{self.name}: {queries}, {mean} a query"
        if self.role == "corpus":
            return f"a corpus of {number_of(documents, 'document')}"
        judgements = number_of(documents, "judgement")
        return f"{queries}, {judgements}" if self.role == "qrels" else f"texts of {queries}"


#: How many files or systems with the same finding are named.
_MOST_SUBJECTS = 3
#: The width of the margin that has the level.
_MARGIN = 9


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

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield (margin, text) of each line of a readable summary; a level stands in the margin."""
        sizes = [summary.words() for summary in self.inputs if summary.role != "run"]
        runs = {each.name: each.words() for each in self.inputs if each.role == "run"}
        sizes += runs.values() if len(runs) <= _MOST_SUBJECTS else [f"{len(runs)} runs"]
        counts = {level: len(self.at_level(level)) for level in LEVELS}
        totals = ", ".join(number_of(count, level) for level, count in counts.items() if count)
        counted = "; ".join(sizes)
        first = [f"{totals} ({counted})", ""] if totals else [f"no problem found: {counted}"]
        yield from (("", text) for text in first)
        for code in dict.fromkeys(finding.code for finding in self.findings):
            same = [finding for finding in self.findings if finding.code == code]
            yield from _lines_of(same, list(runs))

    def __str__(self) -> str:
        """Return the summary as text, with control characters of names as escapes."""
        return "\n".join(f"{margin}{escape_controls(text)}" for margin, text in self.lines())

    def __repr__(self) -> str:
        """Return the first line."""
        return f"Validation({str(self).splitlines()[0]})"


def _lines_of(findings: Sequence[Finding], runs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines of the findings of one code: equal ones once, the remedy at the end.

    The only run is not named again: the first line names it.
    """
    subjects: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for finding in findings:
        subjects[finding.fact, finding.examples].append(finding.subject)
    for (fact, examples), names in subjects.items():
        more = len(names) - _MOST_SUBJECTS
        listed = ", ".join(names[:_MOST_SUBJECTS]) + (f" and {more} more" if more > 0 else "")
        about = "" if names == runs and not names[1:] else f"{listed}: "
        example = f", e.g. {'; '.join(examples)}" if examples else ""
        yield findings[0].level.ljust(_MARGIN), f"{about}{fact}{example}"
    for remedy in dict.fromkeys(finding.remedy for finding in findings):
        yield " " * _MARGIN, remedy
