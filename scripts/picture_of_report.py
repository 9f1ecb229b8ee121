"""Make the pictures of the report that README and documentation show: of the bundled runs.

Run by hand, with the test dependencies and Chromium at hand, where the report looks different::

    python scripts/picture_of_report.py
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from beir_eval import compare_runs, data, read_run
from beir_eval.adapters.beir import load_dataset
from beir_eval.report import write_report

PICTURES = Path(__file__).parents[1] / "docs" / "_static"
WIDTH = 1100


def main() -> None:
    """Write the report, open it and photograph its beginning and the rankings of a query."""
    dataset = load_dataset(data.FOLDER)
    runs = {path.stem: read_run(path) for path in data.RUNS}
    found = compare_runs(dataset.qrels, runs, ["nDCG@10", "Recall@10"], baseline="bm25-plain")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        file = Path(folder, "report.html")
        write_report(file, found, queries=dataset.queries, corpus=dataset.corpus)
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
