"""An installed wheel of this package, as users have it: compiled, without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def installed_wheel() -> Iterator[Path]:
    """Build and install the wheel; all processes started in the ``with`` block import it.

    Yields:
        The folder where it is installed; its command is in ``bin``.
    """
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, str(HERE.parent)], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        target = Path(folder, "installed")
        subprocess.run(
            [*pip, "install", "--no-deps", "--target", str(target), str(wheel)], check=True
        )
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = str(target)
        try:
            yield target
        finally:
            if before is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = before
