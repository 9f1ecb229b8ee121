"""Record what must not change by itself, or compare it with the present: see README.md here.

    python tests/support/recorded/record.py write|compare [values] [comparisons] [printed]

``values`` and ``comparisons`` need the folder of real data in BEIR_EVAL_REALDATA.
"""

import argparse
import difflib
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from recorded import comparisons, printed, values  # noqa: E402 - found through the path set above

#: The number of changed lines that are shown.
MAX_LINES_SHOWN = 40


def lines_of(kind, data):
    """Return the lines as computed now; ``data`` is the folder of real data."""
    if kind == "printed":
        return printed.record()
    return {"values": values, "comparisons": comparisons}[kind].record(Path(data))


def recorded(kind):
    """Return the recorded lines."""
    return (HERE / f"{kind}.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")


def changes(kind, lines):
    """Return the lines that differ from the recorded ones, as a diff."""
    recorded_lines = recorded(kind)
    if kind == "comparisons" and len(recorded_lines) == len(lines):
        # The last bits of sums depend on the processor.
        lines = [
            old if comparisons.same(old, new) else new
            for old, new in zip(recorded_lines, lines, strict=True)
        ]
    if recorded_lines == lines:
        return []
    diff = difflib.unified_diff(
        recorded_lines, lines, f"recorded {kind}", f"{kind} now", "", "", 1, ""
    )
    return list(diff)


def main():
    """Write the lines of each kind, or compare them with the recorded ones."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("write", "compare"))
    kinds = ("values", "comparisons", "printed")
    parser.add_argument("kinds", nargs="*", default=kinds, help=f"some of {', '.join(kinds)}")
    chosen = parser.parse_args()
    data = os.environ.get("BEIR_EVAL_REALDATA")
    failed = False
    for kind in chosen.kinds:
        if kind not in kinds:
            parser.error(f"{kind} is none of {', '.join(kinds)}")
        if data is None and kind != "printed":
            parser.error(f"{kind} needs the folder of real data in BEIR_EVAL_REALDATA")
        lines = lines_of(kind, data)
        if chosen.action == "write":
            (HERE / f"{kind}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(f"{kind}: {len(lines)} lines written")
            continue
        differing = changes(kind, lines)
        failed |= bool(differing)
        equal = "bit for bit" if lines == recorded(kind) else "to 12 digits"
        print(f"{kind}: {f'{len(lines)} lines, equal {equal}' if not differing else 'changed'}")
        for line in differing[:MAX_LINES_SHOWN]:
            print(line)
        if len(differing) > MAX_LINES_SHOWN:
            print(f"… and {len(differing) - MAX_LINES_SHOWN} more lines")
    sys.exit(failed)


if __name__ == "__main__":
    main()
