"""Collect the tests of a tool only where it is installed, if it has an environment of its own.

``make test-hosts`` installs llama-index-core into ``.venv-hosts``, ``make test-trackers`` MLflow
into ``.venv-trackers``, and both run the tests of these tools there.
"""

from importlib.util import find_spec

_MODULES = {"test_mlflow.py": "mlflow", "test_llama_index.py": "llama_index"}
collect_ignore = [path for path, module in _MODULES.items() if find_spec(module) is None]
