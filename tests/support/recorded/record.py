"""Record what must not change by itself, or compare it with the present: see README.md here.

    python tests/support/recorded/record.py write|compare [values] [comparisons] [printed] [costs]

``values`` and ``comparisons`` need the folder of real data in BEIR_EVAL_REALDATA.
"""

import argparse
import difflib
import os
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

#: The number of changed lines that are shown.
MAX_LINES_SHOWN = 40
KINDS = ("values", "comparisons", "printed", "costs")
#: What is recorded without real data.
WITHOUT_DATA = {"printed", "costs"}


def module_of(kind):
    """Return the module that computes the lines, imported when it is needed."""
    return import_module(f"recorded.{kind}")


def lines_of(kind, data):
    """Return the lines as computed now; ``data`` is the folder of real data."""
    return module_of(kind).record(*([] if kind in WITHOUT_DATA else [Path(data)]))


def recorded(kind):
    """Return the recorded lines."""
    return (HERE / f"{kind}.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")


def changes(kind, lines):
    """Return the lines that differ from the recorded ones, as a diff; of costs, what changed."""
    recorded_lines = recorded(kind)
    if kind == "costs":
        return module_of(kind).changes(recorded_lines, lines)
    if kind == "comparisons" and len(recorded_lines) == len(lines):
        # The last bits of sums depend on the processor.
        same = module_of(kind).same
        lines = [
            old if same(old, new) else new for old, new in zip(recorded_lines, lines, strict=True)
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
    parser.add_argument("kinds", nargs="*", default=KINDS, help=f"some of {', '.join(KINDS)}")
    chosen = parser.parse_args()
    data = os.environ.get("BEIR_EVAL_REALDATA")
    failed = False
    if chosen.kinds == ["costs"]:
        sys.modules["torch"] = None  # Haystack imports it if it can: seconds, for nothing here
    for kind in chosen.kinds:
        if kind not in KINDS:
            parser.error(f"{kind} is none of {', '.join(KINDS)}")
        if data is None and kind not in WITHOUT_DATA:
            parser.error(f"{kind} needs the folder of real data in BEIR_EVAL_REALDATA")
        if (chosen.action, kind) == ("compare", "costs") and not (
            module_of(kind).is_of_this_python(recorded(kind))
        ):
            print(f"{kind}: not compared, the bytecodes of this Python are others")
            continue
        lines = lines_of(kind, data)
        if chosen.action == "write":
            (HERE / f"{kind}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(f"{kind}: {len(lines)} lines written")
            continue
        differing = changes(kind, lines)
        failed |= bool(differing)
        nearly = "within 5%" if kind == "costs" else "to 12 digits"
        equal = "bit for bit" if lines == recorded(kind) else nearly
        print(f"{kind}: {f'{len(lines)} lines, equal {equal}' if not differing else 'changed'}")
        for line in differing[:MAX_LINES_SHOWN]:
            print(line)
        if len(differing) > MAX_LINES_SHOWN:
            print(f"… and {len(differing) - MAX_LINES_SHOWN} more lines")
    sys.exit(failed)


if __name__ == "__main__":
    main()
