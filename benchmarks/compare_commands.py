"""The command ``compare`` against ``evaluate`` of the same files, as whole processes.

    BEIR_EVAL_REALDATA=folder python benchmarks/compare_commands.py [repetitions]

Runs of TREC DL 2019 (43 queries, 100 to 1,000 documents each), an installed wheel, commands in
turns. A ratio is the median of neighbouring runs.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from installed import installed_wheel
from measuring import put_section, whole_processes

FIVE = ("bm25", "tas-b", "ada2", "splade-pp", "rep-llama_ties")
MEASURES = ("nDCG@10", "Recall(rel=2)@100")


def commands_of(command: str, data: Path, folder: Path) -> dict[str, tuple[list[str], str]]:
    """Return {name: (command line, name of the one that it is compared with)}.

    Args:
        command: the path of ``beir-eval``.
        data: the folder of real data.
        folder: where reports are written.
    """
    qrels, runs = str(data / "qrels" / "dl19-passage.trec"), data / "runs" / "dl19"
    two, five = ([str(runs / f"{name}.trec") for name in FIVE[:number]] for number in (2, 5))
    thirteen = [str(path) for path in sorted(runs.glob("*.trec"))]
    both = [part for measure in MEASURES for part in ("-m", measure)]
    first = both[:2]
    html = ["-o", str(folder / "report.html")]

    def line(subcommand: str, files: list[str], *options: str) -> list[str]:
        return [command, subcommand, qrels, *files, *options]

    return {
        "evaluate one, one measure": (line("evaluate", two[:1], *first), ""),
        "evaluate two": (line("evaluate", two, *first), ""),
        "compare two": (line("compare", two, *first), "evaluate two"),
        "compare two, -o c.html": (line("compare", two, *first, *html), "compare two"),
        "evaluate five, two measures": (line("evaluate", five, *both), ""),
        "compare five, two measures": (
            line("compare", five, *both, "--baseline", FIVE[0]),
            "evaluate five, two measures",
        ),
        "compare five, two measures, all pairs": (
            line("compare", five, *both),
            "evaluate five, two measures",
        ),
        "evaluate thirteen": (line("evaluate", thirteen, *first), ""),
        "compare thirteen, all pairs": (line("compare", thirteen, *first), "evaluate thirteen"),
    }


def main(repetitions: int = 7) -> None:
    """Time all commands in turns and write the section of RESULTS.md."""
    data = Path(os.environ["BEIR_EVAL_REALDATA"]).resolve()
    with installed_wheel() as target, tempfile.TemporaryDirectory() as folder:
        lines = commands_of(str(target / "bin" / "beir-eval"), data, Path(folder))
        times = whole_processes({name: line for name, (line, _) in lines.items()}, repetitions)
    rows = []
    for name, (_, against) in lines.items():
        ratio = ""
        if against:
            pairs = zip(times[name].seconds, times[against].seconds, strict=True)
            ratios = [ours / theirs for ours, theirs in pairs]
            ratio = f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f}-{max(ratios):.2f})"
        rows.append(f"| {name} | {times[name].median:.2f} | {ratio} | {against} |")
    section = [
        "Made by `make bench`. " + " ".join(str(__doc__).split("\n\n")[2].split()),
        "",
        "| command | seconds | times | those of |",
        "|---|---|---|---|",
        *rows,
    ]
    print("\n".join(section))
    put_section("Compare", section)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
