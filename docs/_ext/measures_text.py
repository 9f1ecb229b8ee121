"""The reference of the measures as Markdown, generated from their docstrings and their traits.

This module does not import Sphinx, so that the tests can use it.
"""

from __future__ import annotations

import re

from beir_eval.measures import Definition, definitions

#: The name that this package gives to another tool.
TOOLS = {"beir": "BEIR", "mteb": "MTEB"}


def reference() -> str:
    """Return a section for each measure: definition, parameters, other names, source, example."""
    return "\n\n".join(map(_section, definitions().values()))


def _section(definition: Definition) -> str:
    text, _, example = definition.documentation.partition(">>> ")
    summary, _, details = re.sub(r"``(.+?)``", r"`\1`", text).partition("\n\n")
    parameters = ", ".join(f"`{name}`" for name in definition.defaults) or "none"
    cutoff = {"none": "no cutoff", "optional": "cutoff optional"}[definition.cutoff]
    names = "; ".join(
        f"{TOOLS.get(tool, tool)} "
        + ", ".join(f"`{template.replace('{k}', 'k')}`" for template in templates if template)
        for tool, templates in definition.tools.items()
    )
    lines = [f"- **Parameters:** {parameters}; {cutoff}."]
    lines += [f"- **Elsewhere:** {names}."] * bool(names)
    parts = [f"### {definition.name}", summary, "\n".join(lines), details.strip()]
    return "\n\n".join([*parts, f"```python\n>>> {example.strip()}\n```"])
