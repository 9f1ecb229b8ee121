"""``Figure``: a Vega-Lite specification that notebooks show; the result of ``plot``."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import as_path
from beir_eval.errors import MissingExtraError, SettingError, needs_extra

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from beir_eval.display.charts import Row, Spec

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_MIME = "application/vnd.vegalite.v6+json"
#: The version of Vega-Lite with which vl-convert draws pictures.
_VERSION = "6.4"
_WIDTH = 560
#: Pixels of a PNG file per pixel of the figure.
_SCALE = 2
_TEXT_COLOUR, _WHITE = "#202428", {"background": "white"}
_FORMATS = (".json", ".pdf", ".png", ".svg")
#: The width of a PDF file, one column of a paper with two, and the size of its text, in points.
_COLUMN, _COLUMN_TEXT = 240, 8


@dataclass(frozen=True)
class Figure:
    """A figure that a notebook shows as the value of a cell, and that ``save`` writes to a file.

    Attributes:
        spec: the Vega-Lite specification with its data, as a dict. To change the figure with
            Altair, use ``altair.Chart.from_dict(figure.spec)``.
    """

    spec: Spec

    def save(self, path: str | Path) -> None:
        """Write the figure to a file, as a picture or as its Vega-Lite specification.

        Args:
            path: the file to write; its ending selects the format: ".svg" or ".png" for a picture
                on a white background, ".pdf" for one as wide as a column of a paper and without a
                title, which the caption has, ".json" for the specification. An existing file is
                replaced; if writing fails, it stays as it is.

        Raises:
            SettingError: ``path`` has another ending.
            MissingExtraError: the format is a picture, and the package vl-convert-python is not
                installed.
            OSError: the file cannot be written.
        """
        target = as_path(path)
        ending = target.suffix.lower()
        if ending not in _FORMATS:
            msg = f"{path}: a figure is saved as {', '.join(_FORMATS)}, not as {ending!r}"
            raise SettingError(msg)
        if ending == ".json":
            content = json.dumps(self.spec, indent=1).encode()
        elif ending == ".png":
            content = self._png()
        elif ending == ".pdf":
            content = _converter().vegalite_to_pdf(self._for_a_column(), _VERSION)
        else:
            content = _converter().vegalite_to_svg(self.spec | _WHITE, _VERSION).encode()
        write_atomically(target, content)

    def _png(self) -> bytes:
        picture: bytes = _converter().vegalite_to_png(self.spec | _WHITE, _VERSION, scale=_SCALE)
        return picture

    def _for_a_column(self) -> Spec:
        """Return the specification without a title, in the width and text of a column."""
        text = {
            "labelFontSize": _COLUMN_TEXT,
            "titleFontSize": _COLUMN_TEXT,
            "titleFontWeight": "normal",
        }
        return {name: part for name, part in self.spec.items() if name != "title"} | {
            **_WHITE,
            "width": _COLUMN,
            "autosize": {"type": "fit-x", "contains": "padding"},
            "config": self.spec["config"] | {"axis": text, "legend": text},
        }

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the figure in the formats that notebooks show, and the size of the picture.

        A notebook that draws Vega-Lite takes the specification, others the picture. Without
        vl-convert-python there is no picture, and the text says how to install it.
        """
        bundle: dict[str, Any] = {"text/plain": repr(self), _MIME: self.spec}
        try:
            picture = self._png()
        except MissingExtraError as error:
            return bundle | {"text/plain": f"{self!r}\n{error}"}, {}
        width, height = struct.unpack(">II", picture[16:24])  # every PNG begins with its size
        size = {"width": round(width / _SCALE), "height": round(height / _SCALE)}
        return bundle | {"image/png": picture}, {"image/png": size}

    def __repr__(self) -> str:
        """Return the description of the figure, without the specification."""
        return f"Figure({self.spec['description']!r})"


def text_styles(colour: str) -> Spec:
    """Return the styles of lines ("ink") and labels ("label") in the colour of text."""
    return {
        "ink": {"color": colour, "stroke": colour},
        "label": {"color": colour, "fill": colour},
    }


def _converter() -> Any:
    with needs_extra("vl-convert-python", "report", "a figure as a picture"):
        import vl_convert  # noqa: PLC0415 - an extra
    return vl_convert


def json_value(value: Any) -> Any:
    """Return a value that JSON can hold: None for NaN or infinity, "?" for lone surrogates."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def figure_from_layers(
    description: str, rows: Iterable[Row], height: Any, layers: list[Spec]
) -> Figure:
    """Return a figure that draws Vega-Lite layers over rows; its title is the description.

    Args:
        description: the title, and the text for readers who do not see the figure.
        rows: the data, named "rows" in the specification.
        height: in pixels.
        layers: Vega-Lite layers.
    """
    title = json_value(description)
    return Figure(
        {
            "$schema": _SCHEMA,
            "description": title,
            "title": title,
            "width": _WIDTH,
            "height": height,
            "data": {"name": "rows"},
            "datasets": {
                "rows": [{field: json_value(value) for field, value in row.items()} for row in rows]
            },
            "layer": layers,
            "config": {
                "aria": False,  # screen readers get one description; the tables hold the numbers
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
                "style": text_styles(_TEXT_COLOUR),
            },
        }
    )
