"""Processes of this interpreter."""

import subprocess
import sys


def python(*arguments, check=True, **settings):
    """Return the process that ran this interpreter with these arguments; its output is text."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=check, **settings)
