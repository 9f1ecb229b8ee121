"""What the tests of the component share."""

import sys

import pytest


@pytest.fixture
def logged(monkeypatch):
    """The warnings that the component logs."""
    messages = []
    inputs_module = sys.modules["haystack_integrations.components.evaluators.beir_eval.inputs"]
    monkeypatch.setattr(
        inputs_module.logger,
        "warning",
        lambda text, **values: messages.append(text.format(**values)),
    )
    return messages
