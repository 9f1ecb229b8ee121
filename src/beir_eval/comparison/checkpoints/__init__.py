"""Comparison of the checkpoints of one training run: the curve and where the run settled.

Inside: ``checkpoint_curve`` (the function, with the step that no later step beats, and what may go
unnoticed), ``result`` (the class it returns). ``comparison.step_names`` reads training steps from
names of checkpoints.

Public: ``checkpoint_curve``, ``CheckpointCurve``, ``Checkpoint``, ``CurvePoint``, ``Outcome``.
"""

from beir_eval.comparison.checkpoints.checkpoint_curve import checkpoint_curve
from beir_eval.comparison.checkpoints.result import Checkpoint, CheckpointCurve, CurvePoint, Outcome

__all__ = ["Checkpoint", "CheckpointCurve", "CurvePoint", "Outcome", "checkpoint_curve"]
