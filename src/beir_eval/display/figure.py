"""``Figure``: what ``plot`` returns, a Vega-Lite specification that a notebook shows."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.core.files import write_atomically
from beir_eval.errors import MissingExtraError, SettingError, needs_extra

if TYPE_CHECKING:
    from collections.abc import Iterable

    from beir_eval.display.chart_parts import Row, Spec

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_MIME = "application/vnd.vegalite.v6+json"
#: The version of Vega-Lite that turns figures into pictures.
_VERSION = "6.4"
_WIDTH = 560
#: Pixels of a picture for one of the figure.
_SCALE = 2
_INK = "#202428"
_FORMATS = (".json", ".png", ".svg")


@dataclass(frozen=True)
class Figure:
    """A figure: shown by a notebook as its cell's value, written by ``save``.

    Attributes:
        spec: the Vega-Lite specification, with its data; ``altair.Chart.from_dict(figure.spec)``
            makes a chart to change.
    """

    spec: Spec

    def save(self, path: str | Path) -> None:
        """Write the figure: a picture (.svg, .png) or the specification (.json), all or nothing.

        Raises:
            SettingError: another ending.
            MissingExtraError: a picture without the package vl-convert-python.
        """
        target = Path(path)
        ending = target.suffix.lower()
        if ending not in _FORMATS:
            msg = f"{path}: a figure is saved as {', '.join(_FORMATS)}, not as {ending!r}"
            raise SettingError(msg)
        if ending == ".json":
            content = json.dumps(self.spec, indent=1).encode()
        elif ending == ".png":
            content = self._png()
        else:
            content = _converter().vegalite_to_svg(self._on_paper(), _VERSION).encode()
        write_atomically(target, content)

    def _png(self) -> bytes:
        picture: bytes = _converter().vegalite_to_png(self._on_paper(), _VERSION, scale=_SCALE)
        return picture

    def _on_paper(self) -> Spec:
        return self.spec | {"background": "white"}

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a notebook shows, and how large: drawn by it where it can, else a picture."""
        bundle: dict[str, Any] = {"text/plain": repr(self), _MIME: self.spec}
        try:
            picture = self._png()
        except MissingExtraError as error:
            return bundle | {"text/plain": f"{self!r}\n{error}"}, {}
        width, height = struct.unpack(">II", picture[16:24])  # the first part of every PNG
        size = {"width": round(width / _SCALE), "height": round(height / _SCALE)}
        return bundle | {"image/png": picture}, {"image/png": size}

    def __repr__(self) -> str:
        """Return what it shows, not how."""
        return f"Figure({self.spec['description']!r})"


def ink_styles(ink: str) -> Spec:
    """Return the styles of what is drawn in the colour of text."""
    return {"ink": {"color": ink, "stroke": ink}, "label": {"color": ink, "fill": ink}}


def _converter() -> Any:
    with needs_extra("vl-convert-python", "report", "a figure as a picture"):
        import vl_convert  # noqa: PLC0415 - an extra
    return vl_convert


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: no NaN, no half of a surrogate pair."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def figure_of(description: str, rows: Iterable[Row], height: Any, layers: list[Spec]) -> Figure:
    """Return a figure of layers over rows; its title is the description."""
    said = _plain(description)
    return Figure(
        {
            "$schema": _SCHEMA,
            "description": said,
            "title": said,
            "width": _WIDTH,
            "height": height,
            "data": {"name": "rows"},
            "datasets": {
                "rows": [{field: _plain(value) for field, value in row.items()} for row in rows]
            },
            "layer": layers,
            "config": {
                "aria": False,  # one description a figure; the tables say the rest
                "view": {"stroke": None},
                "font": "system-ui, sans-serif",
                "title": {
                    "anchor": "start",
                    "fontSize": 13,
                    "fontWeight": "normal",
                    "limit": _WIDTH,
                    "offset": 12,
                },
                "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
                "legend": {"labelFontSize": 12},
                "style": ink_styles(_INK),
            },
        }
    )
