"""beir-eval: evaluation of retrieval with BEIR's measures, and comparison of systems.

Start with ``evaluate(qrels, run)``; see its docstring, or ``beir-eval --help``.

Inside: ``core`` (judgements and runs as arrays), ``measures``, ``fusion`` (one run from several),
``significance`` (statistical tests), ``display`` (tables and charts), ``adapters`` (files in other
formats), ``datasets`` (BEIR's data sets), ``evaluation`` (scores of one run), ``comparison`` (of
systems), ``validation`` (what is suspicious about inputs), ``spans`` (labels on text, ranked
chunks), ``benchmark`` (many systems on many data sets), ``report`` (HTML), ``integrations`` (other
tools' interfaces), ``cli`` (the command line), ``errors``.

Public: what ``__all__`` lists, and what the packages export.
"""
# ruff: noqa: F403, F405 - measures are imported with * and listed in __all__; a test compares both

from typing import TYPE_CHECKING

from beir_eval._version import __version__
from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.adapters import read_qrels, read_run, write_qrels, write_run
    from beir_eval.benchmark import Benchmark, choose, compare_benchmark
    from beir_eval.comparison import (
        Comparison,
        assert_no_regression,
        check_gate,
        compare,
        compare_runs,
    )
    from beir_eval.comparison.checkpoints import checkpoint_curve
    from beir_eval.comparison.slices import compare_slices
    from beir_eval.comparison.stages import evaluate_stages
    from beir_eval.core import Qrels, RelevanceMatrix, Run
    from beir_eval.datasets import load_dataset
    from beir_eval.errors import BeirEvalError, BeirEvalWarning
    from beir_eval.evaluation import EvaluationResult, Evaluator, evaluate
    from beir_eval.fusion import fuse, fusion_grid
    from beir_eval.measures import DEFAULT_MEASURES, Measure, parse
    from beir_eval.measures.all_measures import *
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
    "assert_no_regression",
    "binG",
    "bpref",
    "check_gate",
    "checkpoint_curve",
    "choose",
    "compare",
    "compare_benchmark",
    "compare_runs",
    "compare_slices",
    "evaluate",
    "evaluate_stages",
    "fuse",
    "fusion_grid",
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
    "validate",
    "write_qrels",
    "write_report",
    "write_run",
]

#: Every name is imported when it is first used, so that ``import beir_eval`` takes no time, and a
#: program pays only for what it uses. The packages are attributes too.
lazy_exports(
    __name__,
    {
        "beir_eval.measures": " ".join(__all__),  # but for what follows
        "beir_eval.adapters": "read_qrels read_run write_qrels write_run",
        "beir_eval.benchmark": "Benchmark choose compare_benchmark",
        "beir_eval.comparison": "assert_no_regression check_gate compare compare_runs Comparison",
        "beir_eval.comparison.checkpoints": "checkpoint_curve",
        "beir_eval.comparison.slices": "compare_slices",
        "beir_eval.comparison.stages": "evaluate_stages",
        "beir_eval.core": "Qrels RelevanceMatrix Run",
        "beir_eval.datasets": "load_dataset",
        "beir_eval.errors": "BeirEvalError BeirEvalWarning",
        "beir_eval.evaluation": "evaluate EvaluationResult Evaluator",
        "beir_eval.fusion": "fuse fusion_grid",
        "beir_eval.report": "write_report",
        "beir_eval.validation": "validate Validation",
    },
    packages=(
        "adapters benchmark cli comparison core datasets display errors evaluation integrations "
        "measures report significance validation"
    ),
)
