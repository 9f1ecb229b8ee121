"""One system over its training steps: the curve, and after which step nothing improved.

Inside: ``checkpoint_curve`` and its result, ``steps`` (steps from names), ``records``, ``tables``.

Public: ``checkpoint_curve``, ``CheckpointCurve``, ``Checkpoint``, ``CurvePoint``, ``Outcome``.
"""

from beir_eval.comparison.checkpoints.checkpoint_curve import CheckpointCurve, checkpoint_curve
from beir_eval.comparison.checkpoints.records import Checkpoint, CurvePoint, Outcome

__all__ = ["Checkpoint", "CheckpointCurve", "CurvePoint", "Outcome", "checkpoint_curve"]
