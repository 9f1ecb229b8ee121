"""Collect the tests of a tool only where it is installed, if it has an environment of its own.

mlflow and llama-index-core bring dozens of packages, and versions that others here exclude, so
``make test-definitions`` installs them into ``.venv-definitions`` and runs their tests there.
"""

from importlib.util import find_spec

_MODULES = {"test_mlflow.py": "mlflow", "test_llama_index.py": "llama_index"}
collect_ignore = [path for path, module in _MODULES.items() if find_spec(module) is None]
