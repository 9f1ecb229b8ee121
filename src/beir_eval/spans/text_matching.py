"""``match_texts``: judged and retrieved texts without ids, matched by what they say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.core.run_sources.chunks import TextCounts
from beir_eval.errors import InputError, SettingError, shown
from beir_eval.spans.alignment import letters_of
from beir_eval.spans.gold import LEAST_LETTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def match_texts(
    judged: Mapping[str, Mapping[str, float] | Iterable[str]],
    retrieved: Mapping[str, Iterable[str]],
    *,
    overlap: float = 0.75,
) -> tuple[Qrels, Run]:
    """Return judged and retrieved texts as qrels and a run, matched by their letters.

    For judgements that are texts, where neither ids nor the corpus are at hand: chunks of another
    splitter have other ids, and contents that are not equal. A judged text is retrieved by the
    first text with a run of at least ``overlap`` of its letters, without case, accents, white space
    and punctuation in between; a judged text of fewer than 20 letters if its words follow each
    other in the retrieved one. A text that retrieves several judged ones takes as many ranks, the
    highest grade first. With a corpus, ``Spans`` and ``Chunks`` find out more.

    Args:
        judged: {query_id: {text: grade}} or {query_id: texts}, each of grade 1.
        retrieved: {query_id: texts, best first}.
        overlap: the share of a judged text's letters, above 0 and at most 1.

    Returns:
        The qrels, whose documents are the judged texts; and the run without scores, whose other
        documents are "text 1", "text 2", ….

    Raises:
        SettingError: ``overlap`` has another value.
        InputError: a judged text has no letters.
        QrelsError: nothing is judged, or a grade is no finite number.

    >>> qrels, run = match_texts(
    ...     {"q": ["The Eiffel Tower was completed in 1889."]},
    ...     {"q": ["Paris.", "the eiffel tower was completed in 1889, in Paris"]},
    ... )
    >>> from beir_eval import evaluate
    >>> evaluate(qrels, run, "MRR").means["MRR"].value
    0.5
    """
    if not 0 < overlap <= 1:
        msg = f"overlap is a share above 0 and at most 1, not {shown(overlap)}"
        raise SettingError(msg)
    grades = {
        query_id: dict(texts) if isinstance(texts, Mapping) else dict.fromkeys(texts, 1.0)
        for query_id, texts in judged.items()
    }
    qrels = Qrels(grades)
    rankings: dict[str, list[str]] = {}
    lengths: list[int] = []
    for query_id, texts in retrieved.items():
        wanted = [
            _Wanted(text, overlap)
            for text, _ in sorted(grades.get(query_id, {}).items(), key=lambda item: -item[1])
        ]
        rankings[query_id] = _ranking(wanted, listed := list(texts))
        lengths += map(len, listed)
    run = Run.from_rankings(rankings)
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    run.text_counts = TextCounts(overlap, "any", "kept", mean, {})
    return qrels, run


class _Wanted:
    """A judged text, and what is looked for in retrieved ones."""

    def __init__(self, text: str, overlap: float) -> None:
        self.text = text
        letters = letters_of(text)
        if not letters:
            msg = f"a judged text without letters matches nothing: {shown(text)}"
            raise InputError(msg)
        self._words = None if len(letters) >= LEAST_LETTERS else _words(text)
        length = max(1, -int(-overlap * len(letters) // 1))
        self._runs = [letters[at : at + length] for at in range(len(letters) - length + 1)]

    def is_in(self, letters: str, words: str) -> bool:
        """Return whether a retrieved text holds it.

        Args:
            letters: its letters.
            words: its words.
        """
        if self._words is not None:
            return self._words in words
        return any(part in letters for part in self._runs)


def _ranking(wanted: Sequence[_Wanted], texts: Sequence[str]) -> list[str]:
    """Return the ranking of judged texts, and of retrieved ones that hold no new one."""
    ranking: list[str] = []
    left = list(wanted)
    for rank, text in enumerate(texts, start=1):
        letters, words = letters_of(text), _words(text)
        new = [judged for judged in left if judged.is_in(letters, words)]
        left = [judged for judged in left if judged not in new]
        ranking += [judged.text for judged in new] or [f"text {rank}"]
    return ranking


def _words(text: str) -> str:
    """Return the words of a text between blanks."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} "
