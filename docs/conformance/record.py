"""Write ``expected.json`` anew, from what the tools in ``tools/`` print.

The column of trec_eval 10 is what beir-eval prints with its ties and rounding;
``tests/against/test_conformance_corpus.py`` compares it with an implementation of the rules that
shares no code with the package.
"""

import json
import sys
import tempfile

from run import HERE, scores_of

FIVE, RECALL_LEVELS = {"nDCG@5", "MAP", "MRR", "P@5", "Recall@5"}, {"IPrec@0.3", "IPrec@0.7"}
#: {column: (its tool, the measures that it has)}; a column lacks the cases of other measures.
COLUMNS = {
    "trec_eval 10": ("beir_eval", FIVE | RECALL_LEVELS),
    "trec_eval 9, fused multiply-add": ("fused_multiply_add", RECALL_LEVELS),
    "pytrec_eval": ("pytrec_eval", FIVE | RECALL_LEVELS),
    "ranx": ("ranx", FIVE),
    "ir_measures": ("ir_measures", FIVE | RECALL_LEVELS),
}


def main():
    """Run every tool on every case of its measures."""
    cases = json.loads((HERE / "cases.json").read_text())
    expected = {}
    for column, (tool, measures) in COLUMNS.items():
        command = [sys.executable, str(HERE / "tools" / f"{tool}_tool.py")]
        for name, case in cases.items():
            if not measures.issuperset(case["measures"]):
                continue
            with tempfile.TemporaryDirectory() as folder:
                expected.setdefault(column, {})[name] = scores_of(command, case, folder)
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
