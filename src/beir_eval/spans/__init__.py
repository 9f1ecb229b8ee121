"""Labels on text: one gold set of spans for every chunker.

Inside: ``spans`` and ``chunks`` (what is judged and what is ranked); ``views`` (spans as
judgements, rankings of chunks as runs: ranks are characters or chunks); ``gold`` and
``projection`` (which characters are gold, and where they stand in a ranking); ``texts``,
``alignment`` and ``locating`` (the corpus, and finding texts in it); ``drift`` (spans on a changed
corpus); ``records`` (reading).

Public: ``Spans``, ``Span``, ``Chunks``, ``Chunk``, ``SpanView``, ``Alignment``, ``span_drift``,
``SpanDrift``.
"""

from beir_eval.spans.alignment import Alignment
from beir_eval.spans.chunks import Chunk, Chunks
from beir_eval.spans.drift import SpanDrift, span_drift
from beir_eval.spans.spans import Span, Spans
from beir_eval.spans.views import SpanView

__all__ = [
    "Alignment",
    "Chunk",
    "Chunks",
    "Span",
    "SpanDrift",
    "SpanView",
    "Spans",
    "span_drift",
]
