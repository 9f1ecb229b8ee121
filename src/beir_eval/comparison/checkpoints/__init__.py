"""Comparison of the checkpoints of one training run: the curve and where improvement ended.

Inside: ``checkpoint_curve`` (the function), ``result`` (the class it returns), ``steps`` (training
steps from names of checkpoints).

Public: ``checkpoint_curve``, ``CheckpointCurve``, ``Checkpoint``, ``CurvePoint``, ``Outcome``.
"""

from beir_eval.comparison.checkpoints.checkpoint_curve import checkpoint_curve
from beir_eval.comparison.checkpoints.result import (
    Checkpoint,
    CheckpointCurve,
    CurvePoint,
    Outcome,
)

__all__ = ["Checkpoint", "CheckpointCurve", "CurvePoint", "Outcome", "checkpoint_curve"]
