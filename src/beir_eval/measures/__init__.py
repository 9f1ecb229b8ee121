"""Retrieval measures, their registry, and ``parse``, which reads their names.

A measure is a vectorised reduction over the judged cells of a relevance matrix. It scores all
queries at once; the score of a query does not depend on the other queries of the matrix.

Modules: ``registry`` (``Measure``, and the decorator that defines one), ``parameters`` (checks of
their values), ``names`` (parsing, and the spellings of other tools), ``scales`` (bounds and
direction of scores, also those of custom measures) and ``arithmetic`` (shared array functions). The
measures are in ``binary``, ``graded``, ``counts``, ``interpolated``, ``incomplete_judgements`` and
``trec_eval_extras``; ``all_measures`` collects them.

The public names are those in ``__all__``.
"""
# ruff: noqa: F403 - each module lists its exports in __all__

from typing import TYPE_CHECKING

from beir_eval.measures import names, registry
from beir_eval.measures.all_measures import *
from beir_eval.measures.names import *
from beir_eval.measures.registry import *

#: What ``evaluate`` computes by default: six measures of BEIR at BEIR's default cutoffs.
DEFAULT_MEASURES = tuple(
    names.parse(name) @ cutoff
    for name in ("nDCG", "MAP", "Recall", "R_cap", "Precision", "MRR")
    for cutoff in (1, 3, 5, 10, 100, 1000)
)
#: What it computes by default where characters of text have ranks.
TEXT_MEASURES = (
    *(names.parse("Recall") @ cutoff for cutoff in (500, 1000, 2000, 4000)),
    names.parse("MAP"),
)

# Type checkers cannot read a computed __all__. Without one they export every starred import.
if not TYPE_CHECKING:  # pragma: no branch - type checkers do not run
    __all__ = [  # noqa: PLE0604 - every entry is a string
        "DEFAULT_MEASURES",
        "TEXT_MEASURES",
        *names.__all__,
        *registry.__all__,
        *registry.definitions(),
    ]
