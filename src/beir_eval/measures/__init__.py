"""All measures: one registry, filled where each is defined, read by ``parse``.

Every measure is a vectorised reduction over the judged cells of a relevance matrix, for all
queries at once; none looks at another query than the one it scores.

Inside: ``registry`` (``Measure``, and the decorator that defines one), ``parameters``, ``names``
(parsing, and the spellings of other tools), ``arithmetic``; the measures: ``binary``, ``graded``,
``counts``, ``interpolated``, ``incomplete_judgements``, ``trec_eval_extras``, and ``all_measures``
of these files.

Public: what ``__all__`` lists.
"""
# ruff: noqa: F403 - each module says in __all__ what it exports

from typing import TYPE_CHECKING

from beir_eval.measures import names, registry
from beir_eval.measures.all_measures import *
from beir_eval.measures.names import *
from beir_eval.measures.registry import *

#: The measures and cutoffs that ``evaluate`` computes unless told otherwise: what BEIR reports.
DEFAULT_MEASURES = tuple(
    names.parse(name) @ cutoff
    for name in ("nDCG", "MAP", "Recall", "R_cap", "Precision", "MRR")
    for cutoff in (1, 3, 5, 10, 100, 1000)
)

# Type checkers read __all__ only where it is written out; without it they export every star.
if not TYPE_CHECKING:
    __all__ = [  # noqa: PLE0604 - all of them are text
        "DEFAULT_MEASURES",
        *names.__all__,
        *registry.__all__,
        *registry.definitions(),
    ]
