"""The HTML page: template, style, scripts and licences, and a policy that blocks other scripts.

The figures inside it are as wide as their container, in the page's text colour; the data inside it
is JSON that is safe in an HTML element, and has a size in bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.display import charts
from beir_eval.display.figure import text_styles
from beir_eval.errors import needs_extra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.display.document import Document, Sentence
    from beir_eval.display.figure import Figure
    from beir_eval.display.tables import Table
    from beir_eval.report.further_sections import Section
    from beir_eval.report.means_table import ComparedSystems, Means

_ASSETS, _VENDOR = "assets", "vendor"
_SCRIPTS = ("common.js", "figures.js", "means.js", "rankings.js", "explorer.js")


@dataclass
class Page:
    """What the page shows, in the order of its sections; what is empty or None is left out.

    Attributes:
        title: the heading.
        warnings: what a reader must know before any number.
        answers: the verdicts on all measures.
        sentences: what stands below them.
        gate: what a gate shows.
        across: the section of averages over data sets.
        stages: the section of the stages of a pipeline.
        means: the table of means.
        overview_figures: the captions of the figures below it.
        compared, ranked: the systems of a comparison: each beside the baseline, measure by measure,
            or the best first.
        evidence: the details of a comparison.
        slices, curve: the sections of slices and of checkpoints.
        counted: what was counted.
        to_judge: the unjudged documents most worth judging.
        provenance: (name, value) of settings, versions and hashes.
        figures: {key: figure} of all captions.
        notices: what is left out of the report.
    """

    means: Means
    counted: Sequence[str]
    provenance: Sequence[tuple[str, str]]
    title: str = ""
    warnings: Sequence[str] = ()
    answers: Sequence[Sentence] = ()
    sentences: Sequence[str] = ()
    gate: Document | None = None
    across: Section | None = None
    stages: Section | None = None
    overview_figures: Sequence[dict[str, str]] = ()
    compared: Sequence[ComparedSystems] = ()
    ranked: Sequence[Table] = ()
    evidence: Section | None = None
    slices: Section | None = None
    curve: Section | None = None
    to_judge: Table | None = None
    figures: dict[str, Figure] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def add(self, key: str, section: Section) -> None:
        """Show a further section: "slices", "curve", "across" or "stages"."""
        setattr(self, key, section)
        self.figures |= section.figures
        self.notices += section.notices
        # Usually the systems are those of the page: each warning once.
        self.warnings = list(dict.fromkeys([*self.warnings, *section.warnings]))

    @property
    def links(self) -> list[tuple[str, str]]:
        """(id, heading) of the sections that the page has."""
        sections = {
            "across": "Average over data sets" if self.across else "",
            "stages": "Stages" if self.stages else "",
            "means": "Systems" if self.evidence else "Means",
            "slices": "Slices" if self.slices else "",
            "curve": "Checkpoints" if self.curve else "",
            "queries": "Queries",
            "counted": "What was counted" if self.counted else "",
            "trusted": "Documents to judge" if self.to_judge else "",
            "provenance": "Provenance",
        }
        return [(key, name) for key, name in sections.items() if name]


def check_installed() -> None:
    """Check that reports can be written, which needs the package jinja2.

    Raises:
        MissingExtraError: the package jinja2 is not installed.
    """
    with needs_extra("jinja2", "report", "a report"):
        import jinja2  # noqa: F401, PLC0415 - an extra


def render(page: Page, data: str) -> str:
    """Return the HTML of a page.

    Args:
        page: what it shows, by variable of the template; all text in it is escaped.
        data: the data that the scripts read: JSON without any ``<``.
    """
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    scripts, style = _scripts(), f"\n{_read_text(_ASSETS, 'page.css')}"
    # Only our own files, and JSON that cannot end its HTML element, are not escaped.
    html: str = _template().render(
        **vars(page),
        links=page.links,
        version=__version__,
        policy=_policy(scripts, style),
        style=Markup(style),  # noqa: S704
        scripts=[Markup(script) for script in scripts],  # noqa: S704
        data=Markup(data),  # noqa: S704
        licences=licences(),
    )
    return html


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
    names = [(of["package"], f"{of['package']} {of['version']}") for of in vendored_packages()]
    names.append(("inside", "Inside vega and vega-lite"))
    return [(label, _read_text(_VENDOR, f"{name}.LICENSE.txt")) for name, label in names]


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


def query_figures(*, higher_is_better: bool = True) -> dict[str, Any]:
    """Return the figures that show queries, without rows and with placeholders for names.

    The browser fills in the rows and the names once the reader has chosen a pair of systems.

    Args:
        higher_is_better: whether a difference above 0 has the colour of a gain, or of a loss.
    """
    names = {"measure": "@measure@", "system": "@system@"}
    against = "@against@"
    figures = {
        "differences": charts.query_differences(
            [], **names, against=against, higher_is_better=higher_is_better
        ),
        "scatter": charts.scatter([], **names, against=against, higher_is_better=higher_is_better),
        "scores": charts.query_scores([], **names),
    }
    return {key: page_specification(figure) for key, figure in figures.items()}


def page_specification(figure: Figure) -> dict[str, Any]:
    """Return a figure's Vega-Lite specification, adapted to the page.

    The figure takes the width of its container and the page's text colour, in the light and the
    dark style. It has no title: the page shows the description as a caption below the figure.
    """
    text_colour = "currentColor"
    config = figure.spec["config"]
    axis = {
        "labelColor": text_colour,
        "titleColor": text_colour,
        "domainColor": text_colour,
        "tickColor": text_colour,
        "gridColor": text_colour,
        "gridOpacity": 0.15,
        "domainOpacity": 0.5,
        "tickOpacity": 0.5,
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    }
    untitled = {key: value for key, value in figure.spec.items() if key != "title"}
    return untitled | {
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "background": None,
        "config": config
        | {
            "axis": config["axis"] | axis,
            "legend": config["legend"] | {"labelColor": text_colour, "titleColor": text_colour},
            "style": text_styles(text_colour),
        },
    }


def json_for_html(value: Any) -> str:
    """Return a value as JSON without ``<``, so that it cannot end the HTML element around it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # UTF-8 cannot encode half of a surrogate pair; JSON can escape it.
    encodable = text.encode("utf-8", "backslashreplace").decode()
    return encodable.replace("<", "\\u003c")


def size_of(value: Any) -> int:
    """Return the number of bytes that a value takes as JSON in the file."""
    return len(json_for_html(value).encode())
