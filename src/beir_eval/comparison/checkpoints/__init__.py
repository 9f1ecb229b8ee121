"""One system over its training steps: the curve, and after which step nothing improved.

Inside: ``checkpoint_curve``, ``result`` (what it returns), ``steps`` (steps from names).

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
