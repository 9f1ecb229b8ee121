"""Collect the tests of tools of the dependency group ``cookbook`` only where they are installed.

``make test-slow`` installs them.
"""

from importlib.util import find_spec

_MODULES = {"test_mlflow.py": "mlflow", "test_llama_index.py": "llama_index"}
collect_ignore = [path for path, module in _MODULES.items() if find_spec(module) is None]
