"""Make the screenshots of the demo's report that README and documentation show.

Run it by hand when the look of the report changes. It needs the test dependencies and Chromium::

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
    """Write the report of the demo; save screenshots of its beginning and of a query's rankings."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder, "report.html")
        app(["demo", "-o", str(file)], standalone_mode=False)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_selector("#scatter svg")
        for name, first_selector, last_selector in (
            ("report", "header", "table.compared >> nth=1"),
            ("report-queries", "#explorer", "#rankings"),
        ):
            first = page.locator(first_selector).bounding_box()
            last = page.locator(last_selector).bounding_box()
            if first is None or last is None:
                msg = f"{first_selector} or {last_selector} does not show"
                raise SystemExit(msg)
            height = last["y"] + last["height"] - first["y"] + 16
            clip = {"x": 0, "y": max(0, first["y"] - 16), "width": WIDTH, "height": height}
            target = PICTURES / f"{name}.png"
            page.screenshot(path=target, clip=clip, full_page=True)  # type: ignore[arg-type]
        browser.close()


if __name__ == "__main__":
    main()
