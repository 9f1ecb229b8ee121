"""How often "could not" is certified for verdicts that no choice of relevant documents changes.

    python benchmarks/unjudged_flips.py [cases] [correction]

Small random families of systems have up to five unjudged documents, and every choice of relevant
ones is tried: a certified verdict must never change, and most verdicts that never change should be
certified. The package tries all choices itself if there are few. Here it must not, so that the
certificates are what is measured.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from beir_eval.comparison.robustness import flips
from small_families import SmallFamily  # type: ignore[import-not-found]


def main() -> None:
    """Print how many answers of each kind there are for stable and other verdicts."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    correction = sys.argv[2] if len(sys.argv) > 2 else "max-t"
    flips._FEW_COMPLETIONS = 0  # noqa: SLF001 - so that the certificates are measured
    counts: Counter[tuple[str, bool, str]] = Counter()
    for seed in range(cases):
        case = SmallFamily(np.random.default_rng([seed, 15]), correction)
        for verdict, is_stable, flip in zip(
            case.verdicts[0], case.is_stable, case.flips(), strict=True
        ):
            counts[str(verdict), bool(is_stable), flip] += 1
        if seed % 1000 == 999:
            print(f"{seed + 1} cases", flush=True)
    print(f"{cases} cases, correction {correction}: {sum(counts.values())} comparisons")
    for verdicts in (["better", "worse"], ["undecided"], ["equal"]):
        for is_stable, kind in ((True, "never changed"), (False, "changed by a choice")):
            answers = {
                flip: sum(counts[verdict, is_stable, flip] for verdict in verdicts)
                for flip in ("could", "could not", "not known")
            }
            total = sum(answers.values())
            wrong = "could" if is_stable else "could not"
            right = "could not" if is_stable else "could"
            share = answers[right] / total if total else math.nan
            error = math.sqrt(share * (1 - share) / total) if total else math.nan
            print(
                f"{'/'.join(verdicts):13} {kind:20} {total:7}  {right}: {share:.3f} ± {error:.3f}"
                f"  not known: {answers['not known']}  wrong: {answers[wrong]}"
            )


if __name__ == "__main__":
    main()
