"""What each component of a pipeline returned for a query, and its seconds; in SuperComponents too.

Haystack's tracing API shows the outputs of every component without a change to the pipeline. A
tracer that is installed already, such as that of Langfuse, gets everything that it got before.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from haystack.tracing.tracer import Span, Tracer
from haystack.tracing.tracer import tracer as proxy

from beir_eval.integrations.haystack.pipeline_stages import documents_of_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from beir_eval.integrations.haystack.pipeline_stages import PipelineStage

    #: The path of a component: its name, after those of the SuperComponents that it is in.
    Path = tuple[str, ...]

_COMPONENT_RUN, _COMPONENT_NAME = "haystack.component.run", "haystack.component.name"
_COMPONENT_INPUT, _COMPONENT_OUTPUT = "haystack.component.input", "haystack.component.output"


@dataclass
class ComponentTime:
    """What a component took for one query, over its visits.

    Attributes:
        run: the seconds of its own run.
        copying: the seconds in which Haystack prepared its inputs, which it copies, and its output.
        visits: how often it ran; more than once in a loop.
    """

    run: float = 0.0
    copying: float = 0.0
    visits: int = 0


@dataclass(frozen=True)
class Recorded:
    """What is recorded of each query.

    Attributes:
        sockets: {path of a component: its outputs of documents}, whose documents are counted.
        stages: {path of a component: its stages}, whose rankings and times are kept; empty for
            none.
        ids_of: returns the ids of documents.
    """

    sockets: Mapping[Path, Sequence[str]]
    stages: Mapping[Path, Sequence[PipelineStage]] = field(default_factory=dict)
    ids_of: Callable[[Sequence[Any]], list[str]] = list


@dataclass
class QueryRecord:
    """The outputs of one query.

    Attributes:
        recorded: what is recorded.
        sizes: {"outer/inner.output": the number of documents}, the most of its runs, in a loop.
        rankings: {stage: the ids of its documents}, of its last run that had this output.
        times: {component: what it took}.
        failed_at: the component that failed; "" if none has.
        is_complete: whether this tracer was installed until the end.
    """

    recorded: Recorded
    sizes: dict[str, int] = field(default_factory=dict)
    rankings: dict[str, list[str]] = field(default_factory=dict)
    times: dict[str, ComponentTime] = field(default_factory=dict)
    failed_at: str = ""
    is_complete: bool = False

    def add_outputs(self, path: Path, outputs: Any) -> None:
        """Record the outputs of a component."""
        for socket in self.recorded.sockets.get(path, ()):
            documents = outputs.get(socket)
            if documents is not None:
                output = f"{'/'.join(path)}.{socket}"
                self.sizes[output] = max(len(documents), self.sizes.get(output, 0))
        for stage in self.recorded.stages.get(path, ()):
            documents = outputs.get(stage.socket)
            if documents is not None:
                self.rankings[stage.name] = self.recorded.ids_of(documents_of_stage(documents))

    def add_time(self, path: Path, run: float, copying: float) -> None:
        """Add a visit of a component."""
        taken = self.times.setdefault("/".join(path), ComponentTime())
        taken.run += run
        taken.copying += copying
        taken.visits += 1


#: The record of the query that runs in this thread or task, and the components that it is in.
_RECORD: ContextVar[QueryRecord | None] = ContextVar("beir_eval_record", default=None)
_PATH: ContextVar[Path] = ContextVar("beir_eval_path", default=())


@contextmanager
def recording(recorded: Recorded) -> Iterator[QueryRecord]:
    """Record the outputs of the pipeline that runs in the ``with`` block.

    Args:
        recorded: what to record.

    Yields:
        The record, which is filled while the pipeline runs.
    """
    record = QueryRecord(recorded)
    token = _RECORD.set(record)
    _INSTALLATION.begin()
    try:
        yield record
    finally:
        record.is_complete = _INSTALLATION.is_current
        _INSTALLATION.end()
        _RECORD.reset(token)


class _OutputSpan(Span):
    """A span that records the outputs of a component, and passes everything on.

    Attributes:
        theirs: the span of the tracer that was installed before.
        record: the record of the query.
        path: the component, or the one that the pipeline of this span is in.
        start, began, ended: when the span was opened, and when the component began and ended, in
            seconds; None before it has.
    """

    def __init__(self, theirs: Span, record: QueryRecord, path: Path) -> None:
        self.theirs, self.record, self.path = theirs, record, path
        self.start = time.perf_counter()
        self.began: float | None = None
        self.ended: float | None = None

    def set_tag(self, key: str, value: Any) -> None:
        self.theirs.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        """Haystack sets the inputs just before a component runs, and the outputs just after it."""
        if key == _COMPONENT_OUTPUT:
            self.ended = time.perf_counter()
            self.record.add_outputs(self.path, value)
        self.theirs.set_content_tag(key, value)
        if key == _COMPONENT_INPUT:
            self.began = time.perf_counter()

    def raw_span(self) -> Any:
        return self.theirs.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        return self.theirs.get_correlation_data_for_logs()

    def close(self) -> None:
        """Record the time of the component."""
        if self.began is None or self.ended is None:  # it failed
            return
        run = self.ended - self.began
        self.record.add_time(self.path, run, time.perf_counter() - self.start - run)


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
            path = (*path, name)
            token = _PATH.set(path)
            span = _OutputSpan(theirs, record, path)
            try:
                yield span
            except BaseException:
                record.failed_at = record.failed_at or "/".join(path)
                raise
            finally:
                _PATH.reset(token)
                span.close()

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

    @property
    def is_current(self) -> bool:
        """Whether no component has installed another tracer since."""
        return self._ours is not None and proxy.actual_tracer is self._ours

    def end(self) -> None:
        with self._lock:
            self._running -= 1
            if self._running or self._ours is None:
                return
            if proxy.actual_tracer is self._ours:  # else a component installed its own
                proxy.actual_tracer = self._ours.theirs
            self._ours = None


_INSTALLATION = _Installation()
