"""``Suspicion``: a sign of a mistake; what to do about it, and how much must be seen before it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from beir_eval.core.saved import FROZEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
#: {code: what to do}, as sentences without the last full stop.
REMEDIES: Mapping[SuspicionCode, str] = {
    "swapped-files": "Pass the qrels first, then the run",
    "no-relevant-documents": "Check that the column of grades was read",
    "negative-grades": "Use 0 for documents that are judged and not relevant",
    "level-above-grades": "State a lower rel=, or check that the column of grades was read",
    "deep-learning-grades": (
        "To compare with published values, count grades 2 and above as relevant (rel=2), in "
        "rankings of 1,000 documents"
    ),
    "grades-without-zero": (
        "If the lowest grade means not relevant, subtract it from all, so that it is 0"
    ),
    "numbered-grades": "Check that the column of grades was read",
    "same-judgements": (
        "Check that each query has its own; if they are variants of one question, they are one "
        "cluster (clusters=)"
    ),
    "fractional-grades": "Set a threshold, for example Precision(rel=0.5)@10",
    "grades-are-scores": (
        "If these are the retrieved documents, the two lists are swapped: ground_truth_documents "
        "come first. If a retriever set the scores, set them to None: each grade is then 1"
    ),
    "ascending-scores": ("Negate distances. If the best document is listed last, change nothing"),
    "constant-scores": (
        "Write the scores of the system, or state that the order is the ranking: order='given'"
    ),
    "tied-scores": (
        "Write the scores with all their digits if they have more, or compare ties='best' and "
        "ties='worst'"
    ),
    "swapped-ranks-and-scores": "Write query, Q0, document, rank, score and tag, in this order",
    "ranks-against-scores": (
        "Write scores that descend with the rank; rankings without scores are read too"
    ),
    "relevant-ranked-last": (
        "Negate distances, list the best document first if there are no scores, and give the parts "
        "of a ranking scores on one scale"
    ),
    "inverted-grades": "Check that the highest grade is the best one",
    "judgements-as-run": "Pass the rankings of a system as the run",
    "ids-nearly-match": "Write the ids in the same way in all files",
    "rounded-ids": "Read ids as text, not as numbers",
    "rankings-of-other-queries": "Check that each ranking has the id of its query",
    "rankings-without-judged": "Check the document ids in the rankings of these queries",
    "same-ranking": "Check that the system searches for the text of each query",
    "same-queries": ("Leave repeated queries out, or compare with clusters= of related queries"),
    "nothing-retrieved": "Until something is retrieved, scores say nothing about the system",
    "unnamed-judgements": (
        "Add the field to them, or name another one with document_comparison_field"
    ),
    "unnamed-documents": (
        "Add the field to them, or name another one with document_comparison_field"
    ),
    "same-names": (
        "Name a field that tells documents apart with document_comparison_field, such as id or "
        "content"
    ),
    "parts-of-judged": (
        "Identify documents by a field that chunks keep (document_comparison_field), count chunks "
        "as their document (collapse), or judge spans of text (spans)"
    ),
    "without-parent": "Check the name of the field",
    "left-out-measure": "Correct the scores of the ground-truth documents, which are their grades",
}
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
        return f"{self.fact}{examples}. {REMEDIES[self.code]}"


def suspicions_of_parts(parts: Iterable[Sequence[Suspicion]]) -> tuple[Suspicion, ...]:
    """Return the suspicions of results over disjoint queries; the first of each code is kept."""
    by_code: dict[SuspicionCode, Suspicion] = {}
    for suspicion in chain.from_iterable(parts):
        by_code.setdefault(suspicion.code, suspicion)
    return tuple(by_code.values())
