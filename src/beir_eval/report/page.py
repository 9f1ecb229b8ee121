"""The HTML page: template, style, scripts and licences, and a policy that blocks other scripts."""

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
_SCRIPTS = ("common.js", "figures.js", "means.js", "rankings.js", "explorer.js")


def check_installed() -> None:
    """Check that reports can be written, which needs the package jinja2.

    Raises:
        MissingExtraError: the package jinja2 is not installed.
    """
    with needs_extra("jinja2", "report", "a report"):
        import jinja2  # noqa: F401, PLC0415 - an extra


def render(content: Mapping[str, Any], data: str) -> str:
    """Return the HTML page.

    Args:
        content: the template's variables; all text in them is escaped.
        data: the data that the scripts read: JSON without any ``<``.
    """
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    scripts, style = _scripts(), f"\n{_read_text(_ASSETS, 'page.css')}"
    # Only our own files, and JSON that cannot end its HTML element, are not escaped.
    page: str = _template().render(
        **content,
        version=__version__,
        policy=_policy(scripts, style),
        style=Markup(style),  # noqa: S704
        scripts=[Markup(script) for script in scripts],  # noqa: S704
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
    return environment.from_string(_read_text(_ASSETS, "page.html.j2"))


def vendored_packages() -> list[dict[str, str]]:
    """Return the records of vendored.json: package, version, licence, file and hashes."""
    records: list[dict[str, str]] = json.loads(_read_text(_VENDOR, "vendored.json"))
    return records


def licences() -> list[tuple[str, str]]:
    """Return (package and version, licence text) of each vendored package.

    The last entry holds the licences of what vega and vega-lite contain.
    """
    own_licences = [
        (
            f"{package['package']} {package['version']}",
            _read_text(_VENDOR, f"{package['package']}.LICENSE.txt"),
        )
        for package in vendored_packages()
    ]
    return [*own_licences, ("Inside vega and vega-lite", _read_text(_VENDOR, "inside.LICENSE.txt"))]


def _scripts() -> list[str]:
    vendored_scripts = [_read_text(_VENDOR, package["file"]) for package in vendored_packages()]
    # Our files are joined in one function: they share their names, and no other script sees them.
    own_script = "\n".join(_read_text(_ASSETS, name) for name in _SCRIPTS)
    return [*vendored_scripts, f"\n(() => {{\n{own_script}\n}})();\n"]


def _policy(scripts: Sequence[str], style: str) -> str:
    """Return a Content-Security-Policy that allows these scripts and this style only."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_policy_hash, scripts))}",
            f"style-src {_policy_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _policy_hash(text: str) -> str:
    """Return the hash of a script or style, as a Content-Security-Policy names it."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _read_text(folder: str, name: str) -> str:
    return files("beir_eval.report").joinpath(folder, name).read_text(encoding="utf-8")
