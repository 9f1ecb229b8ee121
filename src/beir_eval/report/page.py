"""The page itself: the template, the scripts, and a policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.errors import needs_extra

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ASSETS, _VENDOR = "assets", "vendor"
_SCRIPTS = ("common.js", "figures.js", "rankings.js", "explorer.js")


def check_installed() -> None:
    """Raise MissingExtraError unless reports can be written."""
    with needs_extra("jinja2", "report", "a report"):
        import jinja2  # noqa: F401, PLC0415 - an extra


def render(content: Mapping[str, Any], data: str) -> str:
    """Return the page.

    Args:
        content: what the template shows; all of it is escaped.
        data: JSON without any ``<``, for the scripts.
    """
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    scripts, style = _scripts(), f"\n{_text(_ASSETS, 'page.css')}"
    # Our own files, and JSON that cannot end its element: the only text that is not escaped.
    page: str = _template().render(
        **content,
        version=__version__,
        policy=_policy(scripts, style),
        style=Markup(style),  # noqa: S704
        scripts=[Markup(one) for one in scripts],  # noqa: S704
        data=Markup(data),  # noqa: S704
        licences=licences(),
    )
    return page


@cache
def _template() -> Any:
    import jinja2  # noqa: PLC0415

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_text(_ASSETS, "page.html.j2"))


def vendored() -> list[dict[str, str]]:
    """Return what is known of the scripts of others: package, version, licence, file, hash."""
    records: list[dict[str, str]] = json.loads(_text(_VENDOR, "vendored.json"))
    return records


def licences() -> list[tuple[str, str]]:
    """Return (package and version, the text of its licence)."""
    listed = [
        (f"{one['package']} {one['version']}", _text(_VENDOR, f"{one['package']}.LICENSE.txt"))
        for one in vendored()
    ]
    return [*listed, ("Inside vega and vega-lite", _text(_VENDOR, "inside.LICENSE.txt"))]


def _scripts() -> list[str]:
    theirs = [_text(_VENDOR, one["file"]) for one in vendored()]
    # One script, so that what the files declare is theirs alone.
    ours = "\n".join(_text(_ASSETS, name) for name in _SCRIPTS)
    return [*theirs, f"\n(() => {{\n{ours}\n}})();\n"]


def _policy(scripts: Sequence[str], style: str) -> str:
    """Return a Content-Security-Policy: nothing is loaded, and only these scripts run."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _text(folder: str, name: str) -> str:
    return files("beir_eval.report").joinpath(folder, name).read_text(encoding="utf-8")
