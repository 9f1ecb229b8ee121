"""A serialised pipeline from its file: only classes from modules that are known or allowed."""

from __future__ import annotations

import fnmatch
import inspect
from typing import TYPE_CHECKING, Any

import haystack
from haystack.marshal import YamlMarshaller

from beir_eval._files import FileContent
from beir_eval.errors import FileFormatError, InputError, SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from haystack.core.pipeline.base import PipelineBase

#: What Haystack 3 allows by itself, as far as components and stores are concerned.
_KNOWN = ("haystack", "haystack_integrations", "haystack_experimental")


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
    try:
        content: Any = YamlMarshaller().unmarshal(FileContent(path).text())
    except Exception as error:
        raise FileFormatError(path, f"not YAML: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("components"), dict):
        raise FileFormatError(path, "no pipeline: a mapping with 'components' was expected")
    for name in _types(content["components"]):
        module = name.rpartition(".")[0]
        patterns = (*_KNOWN, *(f"{one}.*" for one in _KNOWN), *allowed_modules)
        if not any(fnmatch.fnmatchcase(module, pattern) for pattern in patterns):
            msg = (
                f"{path}: the class {name} is not one of Haystack's, so it is not imported; if "
                f"you trust it, allow its module: --allow {module}"
            )
            raise InputError(msg)
    takes_modules = "allowed_modules" in inspect.signature(kind.from_dict).parameters
    settings = {"allowed_modules": list(allowed_modules)} if takes_modules else {}
    try:
        pipeline: PipelineBase = kind.from_dict(content, **settings)
    except Exception as error:
        raise FileFormatError(path, f"the pipeline cannot be made: {error}") from error
    return pipeline


def _types(content: Any) -> Iterator[str]:
    """Yield the names of all classes of a serialised pipeline."""
    if isinstance(content, dict):
        named = content.get("type")
        if isinstance(named, str) and "." in named:
            yield named
        for value in content.values():
            yield from _types(value)
    elif isinstance(content, list):
        for value in content:
            yield from _types(value)


def store_of(pipeline: PipelineBase) -> Any:
    """Return the one document store that the components of a pipeline use.

    Raises:
        SettingError: there is none, or several.
    """
    stores = {
        id(store): store
        for _, component in pipeline.walk()
        if hasattr(store := getattr(component, "document_store", None), "write_documents")
    }
    if len(stores) != 1:
        msg = (
            f"one document store was expected in the pipeline, but it has {len(stores)}; index the "
            "corpus beforehand"
        )
        raise SettingError(msg)
    return stores.popitem()[1]
