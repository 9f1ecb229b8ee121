"""Make the pictures of the report that README and documentation show: of the demo's report.

Run by hand, with the test dependencies and Chromium at hand, where the report looks different::

    python scripts/picture_of_report.py
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from beir_eval.cli.app import app

PICTURES = Path(__file__).parents[1] / "docs" / "_static"
WIDTH = 1100


def main() -> None:
    """Have the demo write its report; photograph its beginning and the rankings of a query."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        file = Path(folder, "report.html")
        app(["demo", "--html", str(file)], standalone_mode=False)
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_selector("#scatter svg")
        for name, first, last in (
            ("report", "header", "#differences ~ figure >> nth=0"),
            ("report-queries", "#explorer", "#rankings"),
        ):
            top = page.locator(first).bounding_box()
            end = page.locator(last).bounding_box()
            if top is None or end is None:
                msg = f"{first} or {last} does not show"
                raise SystemExit(msg)
            height = end["y"] + end["height"] - top["y"] + 16
            clip = {"x": 0, "y": max(0, top["y"] - 16), "width": WIDTH, "height": height}
            target = PICTURES / f"{name}.png"
            page.screenshot(path=target, clip=clip, full_page=True)  # type: ignore[arg-type]
        browser.close()


if __name__ == "__main__":
    main()
