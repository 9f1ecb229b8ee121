"""Sign flips of all pairs of ten systems on six measures, against scipy's permutation_test.

    python benchmarks/significance.py [draws]

scipy takes one pair of one measure at a time: a part of its draws is timed and scaled to all draws
and pairs, which is in its favour, since its set-up is not counted. Both p-values come from the same
number of draws, so they have the same precision.
"""

from __future__ import annotations

import math
import resource
import sys
import time

import numpy as np
from measuring import put_section
from scipy import stats

from beir_eval.significance import sign_flip_pairs

SYSTEMS, MEASURES, QUERIES = 10, 6, 6980
DRAWS = 100_000
#: The number of draws that scipy is timed for, and their batch size, which limits its memory.
TIMED_DRAWS, BATCH = 2_000, 250


def peak_mebibytes() -> int:
    """Return the peak memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(draws: int = DRAWS) -> None:
    """Time both, compare one p-value, and write the section Significance of RESULTS.md."""
    rng = np.random.default_rng(0)
    quality = np.linspace(0.0, 0.01, SYSTEMS)[None, :, None]
    shared = rng.random((MEASURES, 1, QUERIES))
    scores = np.clip(shared + quality + rng.normal(0, 0.2, (MEASURES, SYSTEMS, QUERIES)), 0, 1)
    before = peak_mebibytes()
    begin = time.perf_counter()
    ours = sign_flip_pairs(scores, draws=draws)
    seconds = time.perf_counter() - begin
    pairs = MEASURES * math.comb(SYSTEMS, 2)
    flips = (
        f"{draws:,} sign flips × {pairs} pairs × {QUERIES:,} queries: {seconds:.1f} s, peak "
        f"{peak_mebibytes()} MiB ({before} MiB before)."
    )
    differences = scores[0, 0] - scores[0, 4]
    begin = time.perf_counter()
    theirs = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=TIMED_DRAWS,
        batch=BATCH,
        rng=np.random.default_rng(0),
    )
    timed = time.perf_counter() - begin
    scaled = timed * draws / TIMED_DRAWS * pairs
    p, error = ours.p[0, 0, 4], math.sqrt(theirs.pvalue * (1 - theirs.pvalue) / TIMED_DRAWS)
    against = (
        f"scipy's permutation_test: {TIMED_DRAWS:,} draws of one pair {timed:.2f} s, scaled to all "
        f"{scaled:,.0f} s: {scaled / seconds:,.0f} times ours. p of that pair: ours {p:.4f}, "
        f"scipy's {theirs.pvalue:.4f} (standard error {error:.4f})."
    )
    made = "Made by `python benchmarks/significance.py`. " + " ".join(
        str(__doc__).split("\n\n")[2].split()
    )
    put_section("Significance", [made, "", f"- {flips}", f"- {against}"])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
