"""How many documents each component of a pipeline returned for a query, also in SuperComponents.

Haystack's tracing API shows the outputs of every component without a change to the pipeline. A
tracer that is installed already, such as that of Langfuse, gets everything that it got before.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from haystack.tracing.tracer import Span, Tracer
from haystack.tracing.tracer import tracer as proxy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    #: The path of a component: its name, after those of the SuperComponents that it is in.
    Path = tuple[str, ...]

_COMPONENT_RUN, _COMPONENT_NAME = "haystack.component.run", "haystack.component.name"
_COMPONENT_OUTPUT = "haystack.component.output"


@dataclass(frozen=True)
class _Record:
    """The outputs of one query.

    Attributes:
        sockets: {path of a component: its outputs of documents}.
        sizes: {"outer/inner.output": the number of documents}, the most of its runs, in a loop.
    """

    sockets: Mapping[Path, Sequence[str]]
    sizes: dict[str, int] = field(default_factory=dict)

    def add(self, path: Path, outputs: Any) -> None:
        for socket in self.sockets.get(path, ()):
            documents = outputs.get(socket)
            if documents is not None:
                output = f"{'/'.join(path)}.{socket}"
                self.sizes[output] = max(len(documents), self.sizes.get(output, 0))


#: The record of the query that runs in this thread or task, and the components that it is in.
_RECORD: ContextVar[_Record | None] = ContextVar("beir_eval_record", default=None)
_PATH: ContextVar[Path] = ContextVar("beir_eval_path", default=())


@contextmanager
def recording(sockets: Mapping[Path, Sequence[str]]) -> Iterator[dict[str, int]]:
    """Record the outputs of the pipeline that runs in the ``with`` block.

    Args:
        sockets: {path of a component: its outputs of documents}.

    Yields:
        {output: the number of documents}, which is filled while the pipeline runs.
    """
    record = _Record(sockets)
    token = _RECORD.set(record)
    _INSTALLATION.begin()
    try:
        yield record.sizes
    finally:
        _INSTALLATION.end()
        _RECORD.reset(token)


class _OutputSpan(Span):
    """A span that records the outputs of a component, and passes everything on.

    Attributes:
        theirs: the span of the tracer that was installed before.
        record: the record of the query.
        path: the component, or the one that the pipeline of this span is in.
    """

    def __init__(self, theirs: Span, record: _Record, path: Path) -> None:
        self.theirs, self.record, self.path = theirs, record, path

    def set_tag(self, key: str, value: Any) -> None:
        self.theirs.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        if key == _COMPONENT_OUTPUT:
            self.record.add(self.path, value)
        self.theirs.set_content_tag(key, value)

    def raw_span(self) -> Any:
        return self.theirs.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        return self.theirs.get_correlation_data_for_logs()


class _OutputTracer(Tracer):
    """A tracer that opens the spans of another one inside its own."""

    def __init__(self, theirs: Tracer) -> None:
        self.theirs = theirs

    @contextmanager
    def trace(
        self,
        operation_name: str,
        tags: dict[str, Any] | None = None,
        parent_span: Span | None = None,
    ) -> Iterator[Span]:
        parent = parent_span if isinstance(parent_span, _OutputSpan) else None
        their_parent = parent_span if parent is None else parent.theirs
        with self.theirs.trace(operation_name, tags=tags, parent_span=their_parent) as theirs:
            record = _RECORD.get() if parent is None else parent.record
            if record is None:  # another pipeline of this process
                yield theirs
                return
            path = _PATH.get() if parent is None else parent.path
            name = (tags or {}).get(_COMPONENT_NAME)
            if operation_name != _COMPONENT_RUN or name is None:
                yield _OutputSpan(theirs, record, path)
                return
            token = _PATH.set((*path, name))
            try:
                yield _OutputSpan(theirs, record, (*path, name))
            finally:
                _PATH.reset(token)

    def current_span(self) -> Span | None:
        return self.theirs.current_span()


class _Installation:
    """Installs the tracer while at least one query runs, in whatever thread or task."""

    def __init__(self) -> None:
        self._lock, self._running = threading.Lock(), 0
        self._ours: _OutputTracer | None = None

    def begin(self) -> None:
        with self._lock:
            self._running += 1
            if self._ours is None:
                self._ours = _OutputTracer(proxy.actual_tracer)
                proxy.actual_tracer = self._ours

    def end(self) -> None:
        with self._lock:
            self._running -= 1
            if self._running or self._ours is None:
                return
            if proxy.actual_tracer is self._ours:  # else a component installed its own
                proxy.actual_tracer = self._ours.theirs
            self._ours = None


_INSTALLATION = _Installation()
