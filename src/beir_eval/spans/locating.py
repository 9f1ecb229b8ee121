"""``locate_all``: spans or chunks as places in the text of their documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.spans.alignment import LOST, Alignment, Anchors, Location, Match, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval.spans.alignment import Aligner
    from beir_eval.spans.texts import DocumentTexts


class Part(NamedTuple):
    """A part of a document as it was given: offsets, or its text, or both.

    Attributes:
        doc_id: the document.
        start: its first character, from 0, in code points; None if it is not stated.
        end: the character after its last one; None if it is not stated.
        text: its text; None if it is not given.
    """

    doc_id: str
    start: int | None
    end: int | None
    text: str | None


class Located(NamedTuple):
    """Where a part stands in the text of its document, as ``DocumentTexts`` has it.

    Attributes:
        start: its first character; -1 if it was not found.
        end: the character after its last one; -1 if it was not found.
        stage: how it was found; "" if it could not be checked.
        is_certain: whether it is the only place of its text, the stated one, or exactly where the
            texts around it say.
        shift: how far offsets into the field ``text`` are from those into the text of the document.
    """

    start: int
    end: int
    stage: str
    is_certain: bool
    shift: int


def locate_all(
    parts: Iterable[Part], texts: DocumentTexts | None
) -> tuple[dict[Part, Located], Alignment]:
    """Return the place of each different part, and the counts of how they were found.

    A stated offset counts if the text stands there, in the field ``text`` or in the title and the
    text together; otherwise the text is looked for. Of several places the one nearest to where the
    offset points is taken, with the texts that have one place as anchors: offsets into a cleaned
    text lag behind more and more.

    Args:
        parts: the parts.
        texts: the texts of their documents; None if they are not at hand: stated offsets are taken.
    """
    by_document: dict[str, dict[Part, None]] = defaultdict(dict)
    for part in parts:
        by_document[part.doc_id][part] = None
    if texts is not None:
        texts.load(by_document)
    located: dict[Part, Located] = {}
    counts: Counter[str] = Counter()
    for doc_id, of_document in by_document.items():
        aligner = None if texts is None else texts.aligner(doc_id)
        if texts is not None and aligner is None:
            counts["unknown_documents"] += len(of_document)
            located.update(
                dict.fromkeys(of_document, Located(-1, -1, "lost", is_certain=False, shift=0))
            )
            continue
        shift = 0 if texts is None else texts.shift(doc_id)
        located.update(_locate_in(aligner, shift, list(of_document), counts))
    return located, Alignment(**counts)


def _locate_in(
    aligner: Aligner | None, shift: int, parts: Sequence[Part], counts: Counter[str]
) -> dict[Part, Located]:
    """Return the places of the different parts of one document, and count them."""
    located: dict[Part, Located] = {}
    looked_for: dict[Part, Match] = {}
    for part in parts:
        if aligner is None or part.text is None:
            counts["unchecked"] += 1
            start, end = _stated(part, shift)
            located[part] = Located(start, end, "", is_certain=False, shift=shift)
        elif (stated := _stated_start(aligner, part, shift)) is not None:
            counts["stated"] += 1
            located[part] = Located(
                stated, stated + len(part.text), "stated", is_certain=True, shift=shift
            )
        else:
            looked_for[part] = aligner.find(part.text)
            counts["wrong_offsets"] += part.start is not None
    if aligner is None or not looked_for:
        return located
    known = [
        (part.start, match.locations[0].start)
        for part, match in looked_for.items()
        if part.start is not None and match.stage != "fuzzy" and len(match.locations) == 1
    ]
    known += [
        (part.start, location.start)
        for part, location in located.items()
        if location.stage == "stated" and part.start is not None
    ]
    ends = [part.end or part.start or 0 for part in parts]
    anchors = Anchors(known, len(aligner.text), max(ends))
    for part, match in sorted(looked_for.items(), key=lambda item: item[0].start or 0):
        has_several = len(match.locations) > 1
        counts["several_places"] += has_several
        hint = None if part.start is None else anchors.true_offset(part.start)
        nearby = aligner.find(part.text or "", hint) if has_several and hint is not None else match
        location = _choose(nearby, hint)
        stage: str = nearby.stage
        if stage == "exact" and not aligner.states(part.text or "", location.start):
            stage = "white_space"
        counts[stage] += 1
        is_certain = len(match.locations) == 1 or (bool(known) and hint == location.start)
        located[part] = Located(location.start, location.end, stage, is_certain, shift)
        if part.start is not None and stage in ("exact", "white_space"):
            anchors.add(part.start, location.start)
    return located


def _stated(part: Part, shift: int) -> Location:
    """Return the stated offsets in the text of the document; -1 without any."""
    if part.start is None:
        return Location(-1, -1)
    end = part.start + len(part.text or "") if part.end is None else part.end
    return Location(part.start + shift, end + shift)


def _stated_start(aligner: Aligner, part: Part, shift: int) -> int | None:
    """Return where the text of a part stands if that is the stated offset."""
    if part.start is None or not part.text:
        return None
    for start in dict.fromkeys((part.start + shift, part.start)):
        if aligner.states(part.text, start):
            return start
    return None


def _choose(match: Match, hint: float | None) -> Location:
    if match is LOST or not match.locations:
        return Location(-1, -1)
    return match.locations[0] if hint is None else nearest(match.locations, hint)
