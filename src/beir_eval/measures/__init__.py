"""All measures: one registry, filled where each is defined, read by ``parse``.

Every measure is a vectorised reduction over the judged cells of a relevance matrix, for all
queries at once; none looks at another query than the one it scores.

Inside: ``registry`` (``Measure``, and the decorator that defines one), ``parameters``, ``names``
(parsing, and the spellings of other tools), ``arithmetic``; the measures: ``binary``, ``graded``,
``counts``, ``interpolated``, ``incomplete_judgements``, ``trec_eval_extras``.

Public: what ``__all__`` lists.
"""

from beir_eval.measures.binary import (
    F1,
    MAP,
    MRR,
    Precision,
    R_cap,
    Recall,
    Rprec,
    Rprec_mult,
    Success,
    gm_map,
    set_map,
)
from beir_eval.measures.counts import (
    num_nonrel_judged_ret,
    num_q,
    num_rel,
    num_rel_ret,
    num_ret,
    utility,
)
from beir_eval.measures.graded import CG, DCG, ERR, nDCG
from beir_eval.measures.incomplete_judgements import (
    RBP,
    Hole,
    Judged,
    RBP_residual,
    bpref,
    gm_bpref,
    infAP,
)
from beir_eval.measures.interpolated import AP_11pt, IPrec
from beir_eval.measures.names import (
    TOOLS,
    MeasureLike,
    definition_of,
    parse,
    parse_all,
    spelled,
)
from beir_eval.measures.registry import JUDGED_ONLY, Definition, Measure, definitions
from beir_eval.measures.trec_eval_extras import G, Rndcg, binG, ndcg_rel

#: The measures and cutoffs that ``evaluate`` computes unless told otherwise: what BEIR reports.
DEFAULT_MEASURES: tuple[Measure, ...] = tuple(
    measure @ cutoff
    for measure in (nDCG, MAP, Recall, R_cap, Precision, MRR)
    for cutoff in (1, 3, 5, 10, 100, 1000)
)

__all__ = [
    "CG",
    "DCG",
    "DEFAULT_MEASURES",
    "ERR",
    "F1",
    "JUDGED_ONLY",
    "MAP",
    "MRR",
    "RBP",
    "TOOLS",
    "AP_11pt",
    "Definition",
    "G",
    "Hole",
    "IPrec",
    "Judged",
    "Measure",
    "MeasureLike",
    "Precision",
    "RBP_residual",
    "R_cap",
    "Recall",
    "Rndcg",
    "Rprec",
    "Rprec_mult",
    "Success",
    "binG",
    "bpref",
    "definition_of",
    "definitions",
    "gm_bpref",
    "gm_map",
    "infAP",
    "nDCG",
    "ndcg_rel",
    "num_nonrel_judged_ret",
    "num_q",
    "num_rel",
    "num_rel_ret",
    "num_ret",
    "parse",
    "parse_all",
    "set_map",
    "spelled",
    "utility",
]
