"""What the tests of the component share."""

import sys
import warnings

import pytest

from beir_eval.errors import BeirEvalWarning


@pytest.fixture
def logged(monkeypatch):
    """What the component says: each sentence is logged, and is a warning of Python, once a call."""
    messages = []
    findings = sys.modules["haystack_integrations.components.evaluators.beir_eval.findings"]
    monkeypatch.setattr(
        findings.logger, "warning", lambda text, **values: messages.append(text.format(**values))
    )
    warned = []

    def remember(message, category, *_arguments, **_options):
        assert category is BeirEvalWarning
        warned.append(str(message))
        assert warned[-1] == messages[-1]

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", remember)
        yield messages
