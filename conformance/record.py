"""Write ``expected.json`` anew, from what the tools in ``tools/`` print.

The column of trec_eval 10 is what beir-eval prints; ``tests/against/test_conformance_corpus.py``
compares it with an implementation of the rules that shares no code with the package.
"""

import json
import sys
import tempfile

from run import HERE, scores_of

#: {column: its tool}
COLUMNS = {
    "trec_eval 10": "beir_eval",
    "pytrec_eval": "pytrec_eval",
    "ranx": "ranx",
    "ir_measures": "ir_measures",
}


def main():
    """Run every tool on every case."""
    cases = json.loads((HERE / "cases.json").read_text())
    expected = {}
    for column, tool in COLUMNS.items():
        command = [sys.executable, str(HERE / "tools" / f"{tool}_tool.py")]
        for name, case in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                expected.setdefault(column, {})[name] = scores_of(command, case, folder)
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
