"""Lazy imports: of the names that a package exports, and of functions named in tables."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from beir_eval.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def import_name(origin: str) -> Any:
    """Import a module and return one of its attributes.

    Args:
        origin: "module:name".
    """
    module, _, name = origin.partition(":")
    return getattr(import_module(module), name)


def lazy_exports(
    package: str,
    names: Mapping[str, str],
    extra: tuple[str, str, str] | None = None,
    packages: str = "",
) -> None:
    """Let a package export names whose modules are imported when the name is first used.

    A module of the package may have the same name as an export: ``package.name`` is always the
    export, also after the module was imported.

    Args:
        package: the ``__name__`` of the package.
        names: {module: the names that are exported from it, separated by blanks}; of a name that
            is listed twice the last one counts.
        extra: the arguments of MissingExtraError, if the modules need an extra.
        packages: modules and packages inside ``package``, separated by blanks, that are attributes
            of it without an import of their own.
    """
    module = sys.modules[package]
    origins = {name: origin for origin, listed in names.items() for name in listed.split()}
    module.__dict__["_lazy_exports"] = (origins, extra, packages.split())
    module.__class__ = _LazyPackage


class _LazyPackage(ModuleType):
    """The class of packages with lazy exports (Python allows to set a module's ``__class__``).

    Raises:
        MissingExtraError: a package that an export needs is not installed.
    """

    def __getattr__(self, name: str) -> Any:
        origins, extra, packages = self.__dict__["_lazy_exports"]
        if name in packages:
            return import_module(f"{self.__name__}.{name}")
        if name not in origins:
            msg = f"module {self.__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        try:
            value = getattr(import_module(origins[name]), name)
        except ModuleNotFoundError as error:
            if extra is None:
                raise
            raise MissingExtraError(*extra) from error
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, unless the import system would replace an export by a module."""
        if not (isinstance(value, ModuleType) and name in self.__dict__["_lazy_exports"][0]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        origins, _, packages = self.__dict__["_lazy_exports"]
        return sorted({*super().__dir__(), *origins, *packages})

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """Pickle by name: functions sent to other processes refer to packages."""
        return import_module, (self.__name__,)
