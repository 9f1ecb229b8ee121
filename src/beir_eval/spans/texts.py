"""``DocumentTexts``: the texts of documents, as spans and chunks are parts of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from beir_eval.adapters.dataset_folder import table_files
from beir_eval.adapters.exclusions import lists_exclusions
from beir_eval.core.files import as_path
from beir_eval.datasets.corpus import Corpus, Document, JsonlCorpus
from beir_eval.datasets.dataset import Dataset, corpus_from_files
from beir_eval.errors import FileFormatError, InputError, shown, warn_caller
from beir_eval.spans.alignment import Aligner, occurrences

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What functions take as a corpus: {doc_id: text}, {doc_id: {"title": …, "text": …}} as BEIR loads
#: it, a ``Corpus``, a ``Dataset``, a data-set folder or its corpus file.
CorpusLike: TypeAlias = "Mapping[str, Any] | Corpus | Dataset | DocumentTexts | str | Path"


class DocumentTexts:
    """The texts of documents, read when they are needed and then kept.

    The text of a document is its title, a space and its text, as ``index`` writes it into a
    document store; without a title it is its text.

    Args:
        corpus: {doc_id: text}, {doc_id: {"title": …, "text": …}}, a ``Corpus``, a ``Dataset``, a
            data-set folder or its corpus file.

    Attributes:
        name: what messages call the corpus.

    Raises:
        FileFormatError: the folder has no corpus.
        InputError: it is none of these.
    """

    def __init__(self, corpus: CorpusLike) -> None:
        """Keep the corpus; nothing is read."""
        if isinstance(corpus, Dataset):
            corpus = corpus.corpus
        if isinstance(corpus, (str, Path)):
            corpus = _read_corpus(as_path(corpus))
        if not isinstance(corpus, (Corpus, Mapping)):
            msg = (
                "a corpus is {doc_id: text}, a Corpus, a Dataset, or the path of a data-set folder "
                f"or of its corpus file, not {type(corpus).__name__}"
            )
            raise InputError(msg)
        self._corpus: Corpus | Mapping[str, Any] = corpus
        self.name: str = str(corpus.name) if isinstance(corpus, Corpus) else "the corpus"
        self._known: dict[str, tuple[Aligner, int] | None] = {}
        self._occurrences: dict[tuple[str, str], list[int]] = {}

    def load(self, doc_ids: Iterable[str]) -> None:
        """Read the documents that were not read before, in one pass over the corpus.

        Raises:
            FileFormatError: a record of the corpus is malformed.
            InputError: a value of the mapping is no text.
        """
        wanted = dict.fromkeys(doc_id for doc_id in doc_ids if doc_id not in self._known)
        if not wanted:
            return
        if isinstance(self._corpus, Corpus):
            documents = self._corpus.documents(wanted)
        else:
            documents = {
                doc_id: _document(doc_id, self._corpus[doc_id])
                for doc_id in wanted
                if doc_id in self._corpus
            }
        self._known.update(dict.fromkeys(wanted))
        for doc_id, document in documents.items():
            shift = len(document.title) + 1 if document.title else 0
            text = f"{document.title} {document.text}" if document.title else document.text
            self._known[doc_id] = Aligner(text), shift

    def aligner(self, doc_id: str) -> Aligner | None:
        """Return what finds texts in a document; None if the corpus does not have it."""
        if doc_id not in self._known:
            self.load([doc_id])
        known = self._known[doc_id]
        return None if known is None else known[0]

    def shift(self, doc_id: str) -> int:
        """Return where the field ``text`` of a document begins, after its title."""
        self.aligner(doc_id)
        known = self._known[doc_id]
        return 0 if known is None else known[1]

    def occurrences(self, doc_id: str, text: str) -> list[int]:
        """Return where a text begins in a document, without overlaps; found once, then kept."""
        key = doc_id, text
        if key not in self._occurrences:
            aligner = self.aligner(doc_id)
            whole = "" if aligner is None else aligner.text
            self._occurrences[key] = occurrences(whole, text, overlapping=False)
        return self._occurrences[key]


def as_texts(corpus: CorpusLike) -> DocumentTexts:
    """Return a corpus as ``DocumentTexts``; spans and chunks may share one."""
    return corpus if isinstance(corpus, DocumentTexts) else DocumentTexts(corpus)


def warn_of_exclusions(corpus: Any) -> None:
    """Warn if a corpus is a data set that excludes documents for queries: spans do not."""
    is_folder = isinstance(corpus, (str, Path)) and as_path(corpus).is_dir()
    if (isinstance(corpus, Dataset) and corpus.qrels.excluded) or (
        is_folder and lists_exclusions(as_path(corpus))
    ):
        warn_caller(
            "the documents that this data set excludes for its queries stay in the rankings: they "
            "are left out where documents are judged, not spans"
        )


def _read_corpus(path: Path) -> Corpus:
    if not path.is_dir():
        return JsonlCorpus(path)
    files = table_files(path, "corpus", None)
    if not files:
        problem = "no corpus in this folder; corpus.jsonl was expected"
        raise FileFormatError(path, problem)
    return corpus_from_files(path, files)


def _document(doc_id: str, value: Any) -> Document:
    """Return the document of a value of {doc_id: text or {"title": …, "text": …}}."""
    if isinstance(value, str):
        return Document(doc_id, "", value)
    text = value.get("text") if isinstance(value, Mapping) else None
    if not isinstance(text, str):
        msg = (
            f"the text of document {shown(doc_id)} is {shown(value)}; a text was expected, or "
            '{"title": ..., "text": ...}'
        )
        raise InputError(msg)
    return Document(doc_id, str(value.get("title") or ""), text)
