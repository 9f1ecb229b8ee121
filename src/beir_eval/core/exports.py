"""Names that a package exports without importing what defines them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_exports(package: str, origins: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package: it imports a name when it is first needed.

    A file must not have the name of what it exports this way: once the file is imported, the
    package has the module under that name.

    Args:
        package: the package, as ``__name__``.
        origins: {exported name: module that defines it}.
    """

    def exported(name: str) -> Any:
        if name not in origins:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(import_module(origins[name]), name)

    return exported
