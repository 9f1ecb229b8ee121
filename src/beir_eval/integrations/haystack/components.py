"""The components of a pipeline, and those inside them; and a component as a pipeline of one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import haystack
from haystack.core.errors import PipelineError

from beir_eval.core.own_code import code_of, sha256_of
from beir_eval.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.own_code import Code

#: Components are looked for inside others down to this depth.
_MAX_DEPTH = 6
#: Larger lists and dicts are data.
_MOST_ITEMS = 50
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def is_pipeline(target: Any) -> bool:
    """Return whether an object is a pipeline."""
    return all(hasattr(target, name) for name in ("graph", "run", "walk"))


def walk_components(
    pipeline: Any, outer: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (path, component) of a pipeline, and of what is inside its components.

    Inside a component may be a pipeline, as in a SuperComponent, and other components, as the
    retriever in a MultiQueryTextRetriever.

    Args:
        pipeline: the pipeline.
        outer: the path of the component that it is in.
    """
    for name, component in pipeline.walk():
        yield from _walk_inside((*outer, name), component)


def _walk_inside(path: tuple[str, ...], component: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, component
    if len(path) > _MAX_DEPTH:
        return
    for name, value in attributes_of(component):
        if is_pipeline(value):
            yield from walk_components(value, path)
        elif is_component(value) and value is not component:
            yield from _walk_inside((*path, name), value)


def is_component(value: Any) -> bool:
    """Return whether an object is a component of Haystack."""
    return hasattr(value, "__haystack_input__") and hasattr(value, "run")


def attributes_of(component: Any) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of the attributes of an object, and of the items of lists and dicts."""
    for name, value in list(getattr(component, "__dict__", {}).items()):
        if name.startswith("__"):
            continue  # Haystack's own, such as the pipeline that the component was added to
        if isinstance(value, Mapping):
            yield from ((str(key), item) for key, item in list(value.items())[:_MOST_ITEMS])
        elif isinstance(value, (list, tuple)):
            yield from ((name, item) for item in value[:_MOST_ITEMS])
        else:
            yield name, value


def code_of_components(pipeline: Any, *others: Any) -> Code:
    """Return the code of a pipeline's components, and of the functions among their attributes.

    Args:
        pipeline: the pipeline.
        others: what else belongs to it, such as a function that makes its inputs.
    """
    components = [component for _, component in walk_components(pipeline)]
    functions = [
        value
        for component in components
        for _, value in attributes_of(component)
        if callable(value) and not isinstance(value, type) and not is_component(value)
    ]
    return code_of([pipeline, *components, *functions, *others])


def sha256_of_pipeline(pipeline: Any) -> str:
    """Return the SHA-256 of a pipeline's components, their settings and their connections."""
    connections = [f"{begin}.{key}.{end}" for begin, end, key in pipeline.graph.edges(keys=True)]
    return sha256_of(*sorted(pipeline.walk(), key=itemgetter(0)), sorted(connections))


def inner_pipeline(component: Any) -> Any:
    """Return the pipeline inside a SuperComponent; None for another component."""
    inner = getattr(component, "pipeline", None)
    return inner if is_pipeline(inner) else None


def models_of(pipeline: Any, kind: str) -> frozenset[str]:
    """Return the names of the models of the components whose class has a name that ends so.

    Of a path it is the last part, as an organisation may keep a copy.
    """
    return frozenset(
        model.rstrip("/").rpartition("/")[2]
        for _, component in walk_components(pipeline)
        if type(component).__name__.endswith(kind)
        and isinstance(model := getattr(component, "model", None), str)
    )


def stores_of(pipeline: Any) -> list[tuple[str, Any]]:
    """Return (component, store) of components with a document store, also inside components."""
    return [
        ("/".join(path), store)
        for path, component in walk_components(pipeline)
        if hasattr(store := getattr(component, "document_store", None), "count_documents")
    ]


@contextmanager
def as_pipeline(target: Any, *, concurrent: bool = False) -> Iterator[Any]:
    """Yield a pipeline: itself, or for a component a pipeline of this one component.

    A component can be part of one pipeline at a time, so it is removed again after the block.

    Args:
        target: a pipeline or a component.
        concurrent: whether the pipeline will run several queries at a time.

    Raises:
        SettingError: it is neither, or the component is part of a pipeline.
    """
    if is_pipeline(target):
        yield target
        return
    if not is_component(target):
        msg = f"a Haystack pipeline or component was expected, not {type(target).__name__}"
        raise SettingError(msg)
    pipeline_class: Any = haystack.Pipeline
    if concurrent:  # Haystack 2 has a class of its own for pipelines with run_async
        pipeline_class = getattr(haystack, "AsyncPipeline", pipeline_class)
    pipeline = pipeline_class()
    name = _CAPITALS.sub("_", type(target).__name__).lower()
    try:
        pipeline.add_component(name, target)
    except PipelineError as error:
        msg = f"{type(target).__name__} is part of a pipeline already: evaluate that pipeline"
        raise SettingError(msg) from error
    try:
        yield pipeline
    finally:
        pipeline.remove_component(name)
