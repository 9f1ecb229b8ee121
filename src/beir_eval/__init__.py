"""beir-eval: evaluation of retrieval with BEIR's measures, and comparison of systems.

Start with ``evaluate(qrels, run)``; see its docstring, or ``beir-eval --help``.

Inside: ``core`` (judgements and runs as arrays), ``measures``, ``significance`` (statistical
tests), ``display`` (tables and charts), ``adapters`` (files in other formats), ``datasets``
(BEIR's data sets), ``evaluation`` (scores of one run), ``comparison`` (of systems), ``validation``
(what is suspicious about inputs), ``benchmark`` (many systems on many data sets), ``report``
(HTML), ``integrations`` (other tools' interfaces), ``cli`` (the command line), ``errors``.

Public: what ``__all__`` lists, and what the packages export.
"""
# ruff: noqa: F403, F405 - measures are imported with * and listed in __all__; a test compares both

from typing import TYPE_CHECKING

from beir_eval._version import __version__
from beir_eval.adapters.readers import read_qrels, read_run
from beir_eval.adapters.writers import write_qrels, write_run
from beir_eval.core.imports import lazy_exports
from beir_eval.core.qrels import Qrels
from beir_eval.core.relevance_matrix import RelevanceMatrix
from beir_eval.core.run import Run
from beir_eval.errors import BeirEvalError, BeirEvalWarning
from beir_eval.evaluation.evaluator import Evaluator, evaluate
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.measures import DEFAULT_MEASURES, Measure, parse
from beir_eval.measures.all_measures import *

if TYPE_CHECKING:
    from beir_eval.adapters import qrels_from_votes
    from beir_eval.benchmark import Benchmark, compare_benchmark
    from beir_eval.comparison import (
        Comparison,
        agree,
        assert_no_regression,
        audit_claim,
        check_gate,
        compare,
        compare_runs,
        experiment_power,
    )
    from beir_eval.comparison.checkpoints import checkpoint_curve
    from beir_eval.comparison.ledger import Ledger, judge_until
    from beir_eval.comparison.slices import compare_slices
    from beir_eval.datasets import load_dataset
    from beir_eval.evaluation import evaluate_answers
    from beir_eval.report import write_report
    from beir_eval.validation import Validation, validate

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
    "Benchmark",
    "Comparison",
    "EvaluationResult",
    "Evaluator",
    "G",
    "Hole",
    "IPrec",
    "Judged",
    "Ledger",
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
    "Validation",
    "__version__",
    "agree",
    "assert_no_regression",
    "audit_claim",
    "binG",
    "bpref",
    "check_gate",
    "checkpoint_curve",
    "compare",
    "compare_benchmark",
    "compare_runs",
    "compare_slices",
    "evaluate",
    "evaluate_answers",
    "experiment_power",
    "gm_bpref",
    "gm_map",
    "infAP",
    "judge_until",
    "load_dataset",
    "nDCG",
    "ndcg_rel",
    "num_nonrel_judged_ret",
    "num_q",
    "num_rel",
    "num_rel_ret",
    "num_ret",
    "parse",
    "qrels_from_votes",
    "read_qrels",
    "read_run",
    "set_map",
    "utility",
    "validate",
    "write_qrels",
    "write_report",
    "write_run",
]

#: Evaluating a run needs none of these, so they are imported when they are first used.
lazy_exports(
    __name__,
    {
        "Benchmark": "beir_eval.benchmark",
        "Comparison": "beir_eval.comparison",
        "Ledger": "beir_eval.comparison.ledger",
        "agree": "beir_eval.comparison",
        "assert_no_regression": "beir_eval.comparison",
        "audit_claim": "beir_eval.comparison",
        "check_gate": "beir_eval.comparison",
        "checkpoint_curve": "beir_eval.comparison.checkpoints",
        "compare": "beir_eval.comparison",
        "compare_benchmark": "beir_eval.benchmark",
        "compare_runs": "beir_eval.comparison",
        "compare_slices": "beir_eval.comparison.slices",
        "evaluate_answers": "beir_eval.evaluation",
        "experiment_power": "beir_eval.comparison",
        "judge_until": "beir_eval.comparison.ledger",
        "load_dataset": "beir_eval.datasets",
        "qrels_from_votes": "beir_eval.adapters",
        "Validation": "beir_eval.validation",
        "validate": "beir_eval.validation",
        "write_report": "beir_eval.report",
    },
)
