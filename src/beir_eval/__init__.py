"""beir-eval: the BEIR metric suite, exact, fast, honest about what it counted.

``evaluate(qrels, run)`` is the main job; see its docstring, or ``beir-eval --help``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.adapters.files import read_qrels, read_run
from beir_eval.adapters.writing import write_qrels, write_run
from beir_eval.errors import BeirEvalError, BeirEvalWarning
from beir_eval.evaluator import Evaluator, evaluate
from beir_eval.measures import (
    CG,
    DCG,
    DEFAULT_MEASURES,
    ERR,
    F1,
    MAP,
    MRR,
    RBP,
    AP_11pt,
    G,
    Hole,
    IPrec,
    Judged,
    Measure,
    Precision,
    R_cap,
    RBP_residual,
    Recall,
    Rndcg,
    Rprec,
    Rprec_mult,
    Success,
    binG,
    bpref,
    gm_bpref,
    gm_map,
    infAP,
    nDCG,
    ndcg_rel,
    num_nonrel_judged_ret,
    num_q,
    num_rel,
    num_rel_ret,
    num_ret,
    parse,
    set_map,
    utility,
)
from beir_eval.qrels import Qrels
from beir_eval.relevance import RelevanceMatrix
from beir_eval.results import EvaluationResult
from beir_eval.run import Run

if TYPE_CHECKING:
    from beir_eval.adapters.beir import load_dataset
    from beir_eval.comparison import Comparison, compare, compare_runs

__all__ = [
    "CG",
    "DCG",
    "DEFAULT_MEASURES",
    "ERR",
    "F1",
    "MAP",
    "MRR",
    "RBP",
    "AP_11pt",
    "BeirEvalError",
    "BeirEvalWarning",
    "Comparison",
    "EvaluationResult",
    "Evaluator",
    "G",
    "Hole",
    "IPrec",
    "Judged",
    "Measure",
    "Precision",
    "Qrels",
    "RBP_residual",
    "R_cap",
    "Recall",
    "RelevanceMatrix",
    "Rndcg",
    "Rprec",
    "Rprec_mult",
    "Run",
    "Success",
    "__version__",
    "binG",
    "bpref",
    "compare",
    "compare_runs",
    "evaluate",
    "gm_bpref",
    "gm_map",
    "infAP",
    "load_dataset",
    "nDCG",
    "ndcg_rel",
    "num_nonrel_judged_ret",
    "num_q",
    "num_rel",
    "num_rel_ret",
    "num_ret",
    "parse",
    "read_qrels",
    "read_run",
    "set_map",
    "utility",
    "write_qrels",
    "write_run",
]


#: Names that are imported when they are asked for: evaluating runs needs none of them.
_LATER = {
    "Comparison": "beir_eval.comparison",
    "compare": "beir_eval.comparison",
    "compare_runs": "beir_eval.comparison",
    "load_dataset": "beir_eval.adapters.beir",
}


def __getattr__(name: str) -> Any:
    """Import what reads data sets, or compares, when it is asked for."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
