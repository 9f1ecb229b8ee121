"""Sphinx configuration."""

from beir_eval import __version__

project = "beir-eval"
author = "the beir-eval team"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
html_theme = "furo"
html_title = f"beir-eval {__version__}"
exclude_patterns = ["_build"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
nitpicky = False
