"""Rankings in JSON: the answers of a server or of a command."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from beir_eval.adapters.search_responses import read_hits
from beir_eval.core.ids import id_text
from beir_eval.errors import InputError, shown
from beir_eval.integrations.retrieval.documents import DocumentNames, RetrievedDocument
from beir_eval.integrations.retrieval.host_retrievers import answer_from_documents

if TYPE_CHECKING:
    from beir_eval.adapters.search_responses import HitFields
    from beir_eval.integrations.retrieval.query_runner import Answer

#: A longer answer is refused.
MOST_BYTES = 32 << 20
_BY_ID = DocumentNames(("id",))


def settings_of_call(kind: str, address: str, fields: HitFields) -> dict[str, str]:
    """Return what identifies a retriever that answers with JSON, for its journal.

    Args:
        kind: what the address is: "url" or "command".
        address: the address, or the command.
        fields: where an answer has its hits, and a hit its id and its score.
    """
    return {
        # An address or a command may contain a key, so the journal has its hash only.
        kind: hashlib.sha256(address.encode()).hexdigest(),
        "results": fields.results or "",
        "id": fields.doc_id or "",
        "score": fields.score or "",
    }


def answer_from_json(query_id: str, content: bytes, fields: HitFields, seconds: float) -> Answer:
    """Return the answer to a query that is JSON.

    Args:
        query_id: the query.
        content: the JSON, in UTF-8, UTF-16 or UTF-32.
        fields: where the answer has its hits, and a hit its id and its score.
        seconds: how long the query took.

    Raises:
        InputError: it is not JSON, or has another shape; the message names the query.
    """
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        start = content[:60].decode(errors="replace")
        msg = f"the answer to query {shown(query_id)} is not JSON ({error}): {shown(start)}"
        raise InputError(msg) from error
    documents = []
    for rank, (doc_id, score) in enumerate(read_hits(query_id, answer, fields), start=1):
        try:
            text = id_text(doc_id)
        except (TypeError, ValueError) as error:
            msg = (
                f"the id of hit {rank} of query {shown(query_id)} is {shown(doc_id)}; text or an "
                "integer was expected"
            )
            raise InputError(msg) from error
        documents.append(RetrievedDocument(text, score=score))
    return answer_from_documents(query_id, documents, _BY_ID, seconds)


def too_long(query_id: str) -> InputError:
    """Return the error about an answer that is too long."""
    msg = (
        f"the answer to query {shown(query_id)} has more than {MOST_BYTES:,} bytes; let the "
        "retriever return fewer hits, or ids and scores only"
    )
    return InputError(msg)
