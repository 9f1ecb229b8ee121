"""Sphinx configuration."""

import os
import sys
from pathlib import Path

from beir_eval import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# autodoc imports Haystack, which reports its use over the network unless told not to.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

project = "beir-eval"
author = "the beir-eval team"
project_copyright = f"{author}, Apache-2.0"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "generated",
    "mandatory_inputs",
    "mathml",
    "trimmed",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
# Quotes and hyphens are shown as they are to be typed: "--gate", not an en dash.
smartquotes = False
html_theme = "furo"
html_title = f"beir-eval {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
exclude_patterns = ["_build"]
# Packages that the environment of the documentation need not have.
autodoc_mock_imports = ["pyspark", "pytest"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"exclude-members": "model_config"}
nitpicky = False
