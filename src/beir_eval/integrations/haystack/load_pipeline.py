"""A serialised pipeline from its file: only classes from modules that are known or allowed."""

from __future__ import annotations

import fnmatch
import importlib.util
import inspect
import json
import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import haystack
from haystack.marshal import YamlMarshaller

from beir_eval.core.files import FileContent
from beir_eval.errors import FileFormatError, InputError, SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from haystack.core.pipeline.base import PipelineBase

#: What Haystack 3 allows by itself, as far as components and stores are concerned.
_KNOWN = ("haystack", "haystack_integrations", "haystack_experimental")
#: Modules of types; Haystack 3 allows them too.
_HARMLESS = ("typing", "collections")
#: A pipeline has some hundred; Haystack copies them all, alias by alias.
_MOST_VALUES = 1_000_000
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def load_pipeline(
    path: Path, *, allowed_modules: Sequence[str] = (), concurrent: bool = False
) -> PipelineBase:
    """Return the pipeline of a YAML file.

    Args:
        path: the file, as ``Pipeline.dump`` writes it.
        allowed_modules: modules beside Haystack's own whose classes may be imported; "pkg.*" for
            all of a package.
        concurrent: whether several queries will be under way at a time.

    Raises:
        FileFormatError: the file is no YAML, or no pipeline that can be made.
        InputError: a class is of a module that is not allowed.
        OSError: it cannot be read.
    """
    kind: Any = haystack.Pipeline
    if concurrent:  # in Haystack 2, those for an event loop are another class
        kind = getattr(haystack, "AsyncPipeline", kind)
    text = FileContent(path).text()
    try:
        content: Any = YamlMarshaller().unmarshal(text)
    except Exception as error:
        raise FileFormatError(path, f"not YAML: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("components"), dict):
        raise FileFormatError(path, "no pipeline: a mapping with 'components' was expected")
    if _size(content, {}) > _MOST_VALUES:
        raise FileFormatError(path, "no pipeline: its aliases refer to each other again and again")
    guards_itself = "allowed_modules" in inspect.signature(kind.from_dict).parameters
    _check_names(path, content["components"], allowed_modules, thoroughly=not guards_itself)
    settings = {"allowed_modules": list(allowed_modules)} if guards_itself else {}
    try:
        pipeline: PipelineBase = kind.from_dict(content, **settings)
    except Exception as error:
        raise FileFormatError(path, f"the pipeline cannot be made: {error}") from error
    return pipeline


def _check_names(path: Path, components: Any, allowed: Sequence[str], *, thoroughly: bool) -> None:
    """Raise InputError where the file names a class that is not allowed to be imported.

    With Haystack 2, which imports whatever a file names, thoroughly: any text that is the path of
    something in a module that is there, and components that are told to be unsafe.
    """
    known = (*_KNOWN, *allowed, *(_HARMLESS if thoroughly else ()))
    patterns = (*known, *(f"{one}.*" for one in known))
    for mapping in _mappings(components):
        is_class = "init_parameters" in mapping or "data" in mapping
        names = [mapping["type"]] if is_class and "type" in mapping else []
        if thoroughly:
            if mapping.get("unsafe") is True:
                msg = f"{path}: a component is set to unsafe=true, which runs code of the file"
                raise InputError(msg)
            names += [one for value in mapping.values() for one in _paths_in(value)]
        for name in names:
            module = str(name).rpartition(".")[0]
            if module and not any(fnmatch.fnmatchcase(module, pattern) for pattern in patterns):
                msg = (
                    f"{path}: {name} is not one of Haystack's, so it is not imported; if you trust "
                    f"it, allow its module: --allow {module}"
                )
                raise InputError(msg)


def _size(content: Any, known: dict[int, float]) -> float:
    """Return how many values this is when every alias is written out; infinite in a circle."""
    if not isinstance(content, (dict, list)):
        return 1
    if id(content) not in known:
        known[id(content)] = math.inf  # until it is known: whoever asks meanwhile is in a circle
        inside = content.values() if isinstance(content, dict) else content
        known[id(content)] = 1 + sum(_size(one, known) for one in inside)
    return known[id(content)]


def _mappings(content: Any) -> Iterator[dict[Any, Any]]:
    """Yield every mapping of a file's content once, however often it is referred to."""
    waiting, seen = [content], set()
    while waiting:
        one = waiting.pop()
        if not isinstance(one, (dict, list)) or id(one) in seen:
            continue
        seen.add(id(one))
        waiting += one.values() if isinstance(one, dict) else one
        if isinstance(one, dict):
            yield one


def _paths_in(value: Any) -> Iterator[str]:
    """Yield texts that name something in a module that can be imported."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and _DOTTED.fullmatch(one):
            with suppress(ImportError, ValueError):
                if importlib.util.find_spec(one.partition(".")[0]) is not None:
                    yield one


def store_of(pipeline: PipelineBase) -> Any:
    """Return the one document store that the components of a pipeline use.

    Raises:
        SettingError: there is none, or several.
    """
    # Two components that share a store have one each after loading, with the same settings.
    found = [getattr(component, "document_store", None) for _, component in pipeline.walk()]
    stores = {_key(store): store for store in found if hasattr(store, "write_documents")}
    if len(stores) != 1:
        msg = (
            f"one document store was expected in the pipeline, but it has {len(stores)}; index the "
            "corpus beforehand"
        )
        raise SettingError(msg)
    return stores.popitem()[1]


def _key(store: Any) -> str:
    content = store.to_dict() if hasattr(store, "to_dict") else id(store)
    return json.dumps(content, sort_keys=True, default=repr)
