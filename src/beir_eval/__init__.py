"""beir-eval: the BEIR metric suite, exact, fast, honest about what it counted.

``evaluate(qrels, run)`` is the main job; see its docstring, or ``beir-eval --help``.
"""

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
    Hole,
    IPrec,
    Judged,
    Measure,
    Precision,
    R_cap,
    RBP_residual,
    Recall,
    Rprec,
    Success,
    bpref,
    gm_map,
    infAP,
    nDCG,
    num_nonrel_judged_ret,
    num_q,
    num_rel,
    num_rel_ret,
    num_ret,
    parse,
    set_map,
)
from beir_eval.qrels import Qrels
from beir_eval.relevance import RelevanceMatrix
from beir_eval.results import EvaluationResult
from beir_eval.run import Run

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
    "EvaluationResult",
    "Evaluator",
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
    "Rprec",
    "Run",
    "Success",
    "__version__",
    "bpref",
    "evaluate",
    "gm_map",
    "infAP",
    "nDCG",
    "num_nonrel_judged_ret",
    "num_q",
    "num_rel",
    "num_rel_ret",
    "num_ret",
    "parse",
    "read_qrels",
    "read_run",
    "set_map",
    "write_qrels",
    "write_run",
]
