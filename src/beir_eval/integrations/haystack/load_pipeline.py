"""Loading a serialised pipeline from YAML, with classes from allowed modules only."""

from __future__ import annotations

import fnmatch
import importlib.util
import inspect
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import haystack
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.marshal import YamlMarshaller

from beir_eval.core.files import FileContent
from beir_eval.core.own_code import text_of
from beir_eval.errors import FileFormatError, InputError, SettingError, shown
from beir_eval.integrations.haystack.components import stores_of, walk_components
from beir_eval.integrations.haystack.indexing import store_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from haystack.core.pipeline.base import PipelineBase

#: The modules of components and stores that Haystack 3 allows by default.
_HAYSTACK_MODULES = ("haystack", "haystack_integrations", "haystack_experimental")
#: Modules of types, which Haystack 3 also allows.
_TYPE_MODULES = ("typing", "collections")
_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def load_pipeline(
    path: Path, *, allowed_modules: Sequence[str] = (), concurrent: bool = False
) -> PipelineBase:
    """Return the pipeline in a YAML file.

    Args:
        path: the file, as ``Pipeline.dump`` writes it.
        allowed_modules: further modules whose classes may be imported, besides Haystack's own;
            "pkg.*" for a package and all its modules.
        concurrent: whether the pipeline will run several queries at a time.

    Raises:
        FileFormatError: the file is not YAML, or Haystack cannot make a pipeline from it.
        InputError: the file names a class of a module that is not allowed; or, with Haystack 2, it
            sets a component to unsafe.
        OSError: the file cannot be read.
    """
    pipeline_class: Any = haystack.Pipeline
    if concurrent:  # Haystack 2 has a class of its own for pipelines with run_async
        pipeline_class = getattr(haystack, "AsyncPipeline", pipeline_class)
    # The classes of "pkg.*" may be in the file of the package itself.
    allowed_modules = [
        name
        for given in allowed_modules
        for name in dict.fromkeys((given, given.removesuffix(".*")))
    ]
    text = FileContent(path).text()
    try:
        content: Any = YamlMarshaller().unmarshal(text)
    except Exception as error:
        raise FileFormatError(path, f"not YAML: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("components"), dict):
        raise FileFormatError(path, "no pipeline: a mapping with 'components' was expected")
    has_own_check = "allowed_modules" in inspect.signature(pipeline_class.from_dict).parameters
    _check_classes(path, content["components"], allowed_modules, any_text=not has_own_check)
    settings = {"allowed_modules": list(allowed_modules)} if has_own_check else {}
    try:
        pipeline: PipelineBase = pipeline_class.from_dict(content, **settings)
    except Exception as error:
        raise FileFormatError(path, f"the pipeline cannot be made: {error}") from error
    return pipeline


def _check_classes(
    path: Path, components: Any, allowed_modules: Sequence[str], *, any_text: bool
) -> None:
    """Check that the file names only classes of allowed modules.

    Haystack 2 imports whatever a file names. For it, ``any_text`` checks more: every text that is
    the dotted name of something importable, and components that are set to unsafe.

    Raises:
        InputError: the file names something of a module that is not allowed, or sets a component to
            unsafe.
    """
    module_names = (*_HAYSTACK_MODULES, *allowed_modules, *(_TYPE_MODULES if any_text else ()))
    patterns = (*module_names, *(f"{name}.*" for name in module_names))
    for mapping in _mappings(components):
        is_class = "init_parameters" in mapping or "data" in mapping
        names = [mapping["type"]] if is_class and "type" in mapping else []
        if any_text:
            if mapping.get("unsafe") is True:
                msg = f"{path}: a component is set to unsafe=true, which runs code of the file"
                raise InputError(msg)
            names += [name for value in mapping.values() for name in _importable_names(value)]
        for name in names:
            module = str(name).rpartition(".")[0]
            if module and not any(fnmatch.fnmatchcase(module, pattern) for pattern in patterns):
                msg = (
                    f"{path}: {name} is not one of Haystack's, so it is not imported; if you trust "
                    f"it, allow its module: --allow {module}"
                )
                raise InputError(msg)


def _mappings(content: Any) -> Iterator[dict[Any, Any]]:
    """Yield every mapping in a file's content once, however many aliases refer to it."""
    pending, seen = [content], set()
    while pending:
        item = pending.pop()
        if not isinstance(item, (dict, list)) or id(item) in seen:
            continue
        seen.add(id(item))
        pending += item.values() if isinstance(item, dict) else item
        if isinstance(item, dict):
            yield item


def _importable_names(value: Any) -> Iterator[str]:
    """Yield the text, or the texts of a list, that are dotted names of something importable."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and _DOTTED_NAME.fullmatch(text):
            with suppress(ImportError, ValueError):
                if importlib.util.find_spec(text.partition(".")[0]) is not None:
                    yield text


def write_to_store(pipeline: PipelineBase, store: Any, path: Path) -> None:
    """Let an indexing pipeline write to the store of a retrieval pipeline, which is loaded too.

    Two files name the same store by the same settings. A store in memory is another object in each
    loaded pipeline, and the name of its index, if it was generated, is not a setting.

    Args:
        pipeline: the indexing pipeline.
        store: the store.
        path: the file of the indexing pipeline, for messages.

    Raises:
        SettingError: the pipeline writes to no store, or to one with other settings.
    """
    wanted = text_of(store)
    components = [
        component
        for _, component in walk_components(pipeline)
        if hasattr(getattr(component, "document_store", None), "write_documents")
    ]
    others = [component for component in components if text_of(component.document_store) != wanted]
    if not components or others:
        actual = text_of(others[0].document_store) if others else "no store"
        msg = (
            f"{path} writes to {shown(actual)}, and the pipeline reads from {shown(wanted)}; state "
            "the same document store with the same settings in both files"
        )
        raise SettingError(msg)
    for component in components:
        component.document_store = store


def check_not_shared(stores: Mapping[str, Any]) -> None:
    """Check that stores in memory with other settings do not share their documents.

    Haystack keeps the documents of stores in memory by the name of their index.

    Args:
        stores: {names of pipelines: store}.

    Raises:
        SettingError: two stores have one index and other settings.
    """
    owner_of: dict[str, str] = {}
    for names, store in stores.items():
        if not isinstance(store, InMemoryDocumentStore):
            continue
        other = owner_of.setdefault(store.index, names)
        if other != names:
            msg = (
                f"the stores of {other} and of {names} have other settings and the same index "
                f"{shown(store.index)}, so they would share documents and statistics; give each "
                "another index in its file, or run the pipelines by separate commands"
            )
            raise SettingError(msg)


def document_store_of(pipeline: PipelineBase) -> Any:
    """Return the one document store that the components of a pipeline use, in any SuperComponent.

    Raises:
        SettingError: there is no store, or several with different settings.
    """
    # After loading, two components that share a store have one each, with the same settings.
    stores = {
        store_key(store): store
        for _, store in stores_of(pipeline)
        if hasattr(store, "write_documents")
    }
    if len(stores) != 1:
        msg = (
            f"one document store was expected in the pipeline, but it has {len(stores)}; index the "
            "corpus beforehand"
        )
        raise SettingError(msg)
    return stores.popitem()[1]
