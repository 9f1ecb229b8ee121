"""Where texts stand in documents: stages, hints, and what is never trusted unread."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval.errors import BeirEvalWarning, InputError, RunError
from beir_eval.spans import Chunk, Chunks
from beir_eval.spans.alignment import Aligner, letters_of, occurrences
from beir_eval.spans.locating import Part, locate_all
from beir_eval.spans.texts import DocumentTexts

TEXT = "The  Café opened in 1998.\nIt closed (for a year) in 2004, and opened again in 2006."


@pytest.mark.parametrize(
    ("text", "stage", "expected"),
    [
        ("opened in 1998", "exact", "opened in 1998"),
        ("The Café\topened", "white_space", "The  Café opened"),
        ("the cafe opened in 1998 it closed", "letters", "The  Café opened in 1998.\nIt closed"),
        ("It closed in 2004, and opened again in 2006.", "fuzzy", None),
        ("Nothing of this kind stands anywhere in it.", "lost", None),
        ("  \n", "lost", None),
        ("", "lost", None),
    ],
)
def test_a_text_is_found_by_the_strictest_stage_that_finds_it(text, stage, expected):
    result = Aligner(TEXT).find(text)
    assert result.stage == stage
    if expected is not None:
        [location] = result.locations
        assert TEXT[location.start : location.end] == expected
    if stage == "fuzzy":
        [location] = result.locations
        assert TEXT[location.start : location.end].endswith("opened again in 2006.")


def test_of_many_places_the_exact_one_is_found():
    text = "." * 18 + " "
    for start in range(15):
        assert Aligner(text).find(text[start:]).stage == "exact"


@given(st.text(alphabet="ab \n.É", max_size=60), st.data())
def test_what_is_found_has_the_letters_that_were_looked_for(text, data):
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    result = Aligner(text).find(part)
    if not part.strip():
        assert result.stage == "lost"
        return
    assert result.stage == "exact"
    extents = [text[location.start : location.end] for location in result.locations]
    assert extents[0] == part
    assert {"".join(extent.split()) for extent in extents} == {"".join(part.split())}
    changed = Aligner(re.sub(r"\s+", " ", text)).find(part)
    if letters_of(part):
        assert changed.stage in ("exact", "white_space")


@given(st.text(alphabet="ab", max_size=30), st.text(alphabet="ab", min_size=1, max_size=4))
def test_occurrences_are_those_of_a_search_with_or_without_overlaps(whole, part):
    apart = [match.start() for match in re.finditer(re.escape(part), whole)]
    assert occurrences(whole, part, overlapping=False) == apart
    assert occurrences(whole, part) == [
        at for at in range(len(whole)) if whole.startswith(part, at)
    ]


def test_stated_offsets_are_checked_and_wrong_ones_are_replaced():
    corpus = {"d": "One two three. Four five six."}
    chunks = Chunks(
        {"q": [Chunk("d", 0, 14, "One two three."), Chunk("d", 3, 17, "Four five six.")]}, corpus
    )
    assert (chunks.alignment.stated, chunks.alignment.exact, chunks.alignment.wrong_offsets) == (
        1,
        1,
        1,
    )
    assert [chunk[:3] for chunk in chunks.by_query["q"]] == [("d", 0, 14), ("d", 15, 29)]


def test_offsets_into_the_text_and_into_title_and_text_are_both_right():
    corpus = {"d": {"title": "Title", "text": "one two"}}
    for start in (4, 10):
        chunks = Chunks({"q": [Chunk("d", start, start + 3, "two")]}, corpus)
        assert chunks.alignment.stated == 1
        assert chunks.by_query["q"][0][:3] == ("d", 10, 13)


def test_of_several_places_the_one_that_the_texts_around_point_to_is_taken():
    rng = random.Random(5)
    sentences = [f"Number {rng.randrange(10**9)} is here." for _ in range(40)]
    sentences[7] = sentences[23] = sentences[31] = "The same words again."
    original = "  \n  ".join(sentences)
    cleaned = " ".join(sentences)  # offsets lag behind more and more
    parts = [Part("d", cleaned.index(text), None, text) for text in sentences]
    at = -1
    for index in (7, 23, 31):
        at = cleaned.index(sentences[index], at + 1)
        parts[index] = Part("d", at, None, sentences[index])
    located, alignment = locate_all(parts, DocumentTexts({"d": original}))
    true = [match.start() for match in re.finditer("The same words again.", original)]
    assert [located[parts[index]].start for index in (7, 23, 31)] == true
    assert alignment.several_places == 3
    assert alignment.lost == 0


def test_chunks_of_another_corpus_are_an_error_and_lost_ones_a_warning():
    ranked = {"q": [Chunk("d", text="nothing of the kind stands here at all")]}
    with pytest.raises(RunError, match="none of the documents of the chunks: 'd'"):
        Chunks(ranked, {"e": "text"})
    with pytest.warns(BeirEvalWarning, match="1 of 1 chunks are not in the text"):
        assert Chunks(ranked, {"d": "some other text"}).alignment.lost == 1
    with pytest.warns(BeirEvalWarning, match="lacks 1 document of the chunks, such as 'x'"):
        Chunks({"q": [Chunk("d", 0, 4), Chunk("x", 0, 4)]}, {"d": "text"})


@pytest.mark.parametrize("corpus", [7, ["text"], None.__class__])
def test_a_corpus_of_another_kind_is_an_error(corpus):
    with pytest.raises(InputError, match=r"a corpus is \{doc_id: text\}"):
        Chunks({"q": []}, corpus)


class Host:
    """A retrieved document of another tool."""

    def __init__(self, **fields):
        vars(self).update(fields)


def test_documents_of_the_three_hosts_are_read():
    corpus = {"d": "One two three. Four five six."}
    haystack = Host(content="Four", meta={"beir_doc_id": "d", "split_idx_start": 2}, score=0.5)
    langchain = Host(page_content="Four", metadata={"source": "d", "start_index": 15})
    llama = Host(node=Host(text="Four", metadata={}, ref_doc_id="d", start_char_idx=15), score=1)
    for document, field in ((haystack, None), (langchain, "source"), (llama, None)):
        chunks = Chunks.from_documents({"q": [document]}, corpus, doc_id_field=field)
        assert chunks.by_query["q"][0] == ("d", 15, 19, 4)
    with pytest.raises(
        InputError, match=r"beir_doc_id in its metadata, which has source, start_index"
    ):
        Chunks.from_documents({"q": [langchain]}, corpus)
    with pytest.raises(InputError, match="a document with a text was expected, not Host"):
        Chunks.from_documents({"q": [Host(meta={})]}, corpus)
