"""What ``validate`` finds, as Markdown, generated from ``inspection/texts.toml``.

This module does not import Sphinx, so that the tests can use it.
"""

from __future__ import annotations

from beir_eval.inspection.finding import finding_texts


def reference() -> str:
    """Return the level, the meaning, the consequence and the remedy of each code."""
    return "\n\n".join(
        f"`{code}` ({texts['level']})\n"
        f": {texts['meaning'][0].upper()}{texts['meaning'][1:]}. {texts['consequence']}\n"
        f"  *{texts['remedy']}*"
        for code, texts in finding_texts().items()
        if "meaning" in texts
    )
