"""The code behind a retriever: hashes of the user's own modules, and versions of packages.

Code that was installed into ``site-packages`` is known by the version of its package. Any other
code is the user's *own*, for a folder or an editable install has no version that moves: it is known
by the SHA-256 of its modules, and of the own modules that these import, also inside functions. A
class or function of a notebook or script (``__main__``) is known by its source and by that of the
functions, classes and values of ``__main__`` that it uses, not by the whole file.

Not known by it: data files that code reads, C extensions, environment variables, models by name on
a hub, services; and modules that are imported by a computed name.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.machinery
import importlib.metadata
import inspect
import site
import sys
import sysconfig
import types
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from beir_eval.core.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAIN = "__main__"
#: This package is known by its version, also in an editable install.
_OUR_PACKAGES = ("beir_eval", "haystack_integrations.components.evaluators.beir_eval")
_INSTALLED_FOLDERS = frozenset({"site-packages", "dist-packages"})
#: Values inside values are read down to this depth.
_MAX_DEPTH = 6
_PLAIN_TYPES = (str, bytes, int, float, complex, bool, type(None))


class Code(NamedTuple):
    """The code behind a retriever.

    Attributes:
        own: {own module, or name in ``__main__``: SHA-256}.
        packages: {package: version}, without Python's own modules.
    """

    own: dict[str, str]
    packages: dict[str, str]


def code_of(objects: Iterable[Any]) -> Code:
    """Return the code of the classes of objects, and of classes and functions themselves.

    Args:
        objects: instances, classes and functions, such as the components of a pipeline.
    """
    reader = _CodeReader()
    for item in objects:
        reader.add_object(item)
    return Code(dict(sorted(reader.own.items())), dict(sorted(reader.packages.items())))


class _CodeReader:
    """Collects the code of classes, functions and modules.

    Attributes:
        own: as of ``Code``.
        packages: likewise.
    """

    def __init__(self) -> None:
        self.own: dict[str, str] = {}
        self.packages: dict[str, str] = {}
        self._seen_modules: set[str] = set()
        self._seen_in_main: set[int] = set()

    def add_object(self, item: Any) -> None:
        """Add a class or function, or the class of an instance; of a partial its function too."""
        if isinstance(item, functools.partial):
            self.add_object(item.func)
            for argument in (*item.args, *item.keywords.values()):
                if callable(argument):
                    self.add_object(argument)
        elif isinstance(item, types.MethodType):
            self.add_object(item.__func__)
            self.add(type(item.__self__))
        elif isinstance(item, (type, types.FunctionType)):
            self.add(item)
        else:
            self.add(type(item))
        wrapped = getattr(item, "__wrapped__", None)  # of a decorator such as lru_cache
        if callable(wrapped):
            self.add_object(wrapped)

    def add(self, item: Any) -> None:
        """Add a class or a function, with the classes that a class is derived from."""
        for part in inspect.getmro(item) if isinstance(item, type) else (item,):
            name = getattr(part, "__module__", None) or ""
            if name == _MAIN:
                self._add_of_main(part)
            else:
                self._add_module(name)

    def _add_module(self, name: str) -> None:
        """Add a module that is, or can be, imported under this name, and what it imports."""
        if name in self._seen_modules or name == _MAIN:
            return
        self._seen_modules.add(name)
        if any(name == ours or name.startswith(f"{ours}.") for ours in _OUR_PACKAGES):
            self.packages["beir-eval"] = importlib.metadata.version("beir-eval")
            return
        source = _source_of(name)
        if source is None:
            return
        if _is_installed(source.path):
            self._add_package(name)
            return
        self.own[name] = file_sha256(source.path) if source.path.is_file() else ""
        for imported in _imported_names(source):
            self._add_module(imported)

    def _add_package(self, module_name: str) -> None:
        top = module_name.partition(".")[0]
        for distribution in _distributions_of().get(top, ()):
            if distribution not in self.packages:
                self.packages[distribution] = importlib.metadata.version(distribution)

    def _add_of_main(self, item: Any) -> None:
        """Add a class or function of ``__main__``, and what it uses of ``__main__``."""
        if id(item) in self._seen_in_main:
            return
        self._seen_in_main.add(id(item))
        name = getattr(item, "__qualname__", type(item).__qualname__)
        codes = list(_codes_of(item))
        try:
            text = inspect.getsource(item)
        except (OSError, TypeError):  # typed into the interpreter
            text = "\n".join(map(bytecode_text, codes))
            name = f"{name} (bytecode of Python {sys.version_info[0]}.{sys.version_info[1]})"
        values: dict[str, str] = {}
        variables = vars(sys.modules[_MAIN])
        for used in sorted({used for code in codes for used in _names_in(code)}):
            value = variables.get(used)
            if isinstance(value, types.ModuleType):
                self._add_module(value.__name__)
            elif callable(value):
                self.add_object(value)
            elif used in variables:
                values[used] = value_text(value)
        digest = hashlib.sha256(f"{text}\0{values}".encode(errors="surrogatepass"))
        self.own[f"{_MAIN}.{name}"] = digest.hexdigest()


def _is_installed(path: Path) -> bool:
    """Return whether a file is of Python's own modules or of an installed package."""
    if not _INSTALLED_FOLDERS.isdisjoint(path.parts):
        return True
    return any(path.is_relative_to(folder) for folder in _library_folders())


@functools.cache
def _library_folders() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    folders = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return tuple(Path(folder).resolve() for folder in (*folders, site.getusersitepackages()))


@functools.cache
def _distributions_of() -> dict[str, list[str]]:
    """Return {top-level module: the packages that install it}; this takes 0.3 seconds."""
    return dict(importlib.metadata.packages_distributions())


class _Source(NamedTuple):
    """The file of a module.

    Attributes:
        path: the file.
        package: the package that relative imports in it begin from.
    """

    path: Path
    package: str


def _source_of(name: str) -> _Source | None:
    """Return the file of a module, imported or not; None if there is none. Nothing is imported."""
    module = sys.modules.get(name)
    if module is not None:
        file, is_package = getattr(module, "__file__", None), hasattr(module, "__path__")
    else:
        spec = _find_spec(name)
        if spec is None or not spec.has_location:
            return None
        file, is_package = spec.origin, spec.submodule_search_locations is not None
    if file is None:
        return None  # of the interpreter, or a folder without __init__.py
    return _Source(Path(file).resolve(), name if is_package else name.rpartition(".")[0])


def _find_spec(name: str) -> importlib.machinery.ModuleSpec | None:
    """Return where a module would be imported from, without importing its packages."""
    parent = name.rpartition(".")[0]
    folders = None
    if parent:
        folders = getattr(sys.modules.get(parent), "__path__", None)
        if folders is None:
            parent_spec = None if parent in sys.modules else _find_spec(parent)
            folders = parent_spec and parent_spec.submodule_search_locations
        if folders is None:
            return None
    return importlib.machinery.PathFinder.find_spec(name, folders)


def _imported_names(source: _Source) -> Iterator[str]:
    """Yield the names in all imports of a module; some may be no modules."""
    try:
        tree = ast.parse(source.path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return  # compiled, or changed since it was imported
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_name(source.package, node.level, node.module)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _absolute_name(package: str, level: int, module: str | None) -> str:
    """Return the name of the module in ``from ..module import x`` inside a package."""
    if not level:
        return module or ""
    parts = package.split(".")
    parents = parts[: len(parts) - level + 1]
    return ".".join([*parents, *([module] if module else [])])


def _codes_of(item: Any) -> Iterator[types.CodeType]:
    """Yield the code objects of a function, or of the methods of a class."""
    members = vars(item).values() if isinstance(item, type) else (item,)
    for member in members:
        function = getattr(member, "__func__", getattr(member, "fget", member))
        function = inspect.unwrap(function) if callable(function) else function
        code = getattr(function, "__code__", None)
        if code is not None:
            yield code


def _names_in(code: types.CodeType) -> Iterator[str]:
    """Yield the global names in a code object and in the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def value_text(value: Any, depth: int = 0) -> str:
    """Return a value as text: plain values, the items of containers, and the bytes of an array.

    Args:
        value: the value.
        depth: how deep inside other values it is.
    """
    if isinstance(value, _PLAIN_TYPES):
        return repr(value)
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        pairs = [
            f"{value_text(k, depth + 1)}: {value_text(v, depth + 1)}" for k, v in value.items()
        ]
        return f"{{{', '.join(pairs)}}}"
    if depth < _MAX_DEPTH and isinstance(value, (list, tuple, set, frozenset)):
        texts = [value_text(item, depth + 1) for item in value]
        return f"[{', '.join(sorted(texts) if isinstance(value, (set, frozenset)) else texts)}]"
    if hasattr(value, "tobytes") and hasattr(value, "shape"):
        return f"{value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    return type(value).__qualname__


def bytecode_text(code: types.CodeType) -> str:
    """Return the bytecode, the names and the constants of a code object as text."""
    constants = [
        bytecode_text(constant) if isinstance(constant, types.CodeType) else repr(constant)
        for constant in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {constants}"
