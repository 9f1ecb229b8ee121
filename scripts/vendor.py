"""Download the scripts of the report from npm, with their licences, into ``report/vendor``.

Run it by hand to change a version. It needs npm::

    python scripts/vendor.py

``vendored.json`` records versions and hashes; a test compares the files with it.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

TARGET = Path(__file__).parents[1] / "src" / "beir_eval" / "report" / "vendor"


class Package(NamedTuple):
    """A package of npm, and the paths in it of the script and the licence."""

    name: str
    version: str
    script: str
    licence_file: str


PACKAGES = (
    Package("vega", "6.4.0", "build/vega.min.js", "LICENSE"),
    Package("vega-interpreter", "2.3.2", "build/vega-interpreter.js", "LICENSE"),
    Package("vega-lite", "6.4.3", "build/vega-lite.min.js", "LICENSE"),
    Package("datatables.net", "3.1.5", "js/dataTables.min.js", "License.txt"),
)

#: Packages bundled in vega.min.js and vega-lite.min.js; their licences must be included too.
BUNDLED = (
    "d3@7.9.0",
    "d3-delaunay@6.0.4",
    "d3-geo-projection@4.0.0",
    "delaunator@5.0.1",
    "topojson-client@3.1.0",
    "json-stringify-pretty-compact@4.0.0",
)

_IMPORT = re.compile(r"^import (\{.*?\}) from 'vega-util';", re.DOTALL)
_EXPORT = re.compile(r"^export \{ expression as expressionInterpreter \};$", re.MULTILINE)
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


def as_plain_script(module: str) -> str:
    """Return vega-interpreter as a script that extends vega; npm has it as a module only.

    Args:
        module: the text of the module.
    """
    opened, imports = _IMPORT.subn(r"(function () {\nconst \1 = vega;", module)
    closed, exports = _EXPORT.subn("vega.expressionInterpreter = expression;\n})();", opened)
    if (imports, exports) != (1, 1) or re.search(r"^(import|export)\b", closed, re.MULTILINE):
        msg = "vega-interpreter is laid out differently now; look at it"
        raise SystemExit(msg)
    return closed


def download(package: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return npm's metadata of a package ("name@version") and its files as {path: text}."""
    result = subprocess.run(
        ["npm", "pack", package, "--json"],  # noqa: S607
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    [metadata] = json.loads(result.stdout)
    texts = {}
    with tarfile.open(folder / metadata["filename"]) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                texts[member.name.partition("/")[2]] = file.read().decode(errors="replace")
    return metadata, texts


def fetch(package: Package, folder: Path) -> dict[str, str]:
    """Write the script and the licence of a package; return its entry of ``vendored.json``."""
    metadata, texts = download(f"{package.name}@{package.version}", folder)
    script = _SOURCE_MAP.sub("", texts[package.script]).rstrip() + "\n"
    changes = "the source map's address is left out"
    if package.name == "vega-interpreter":
        script = as_plain_script(script)
        changes += "; the module became a script: its import and export lines"
    target = TARGET / Path(package.script).name
    target.write_text(script, encoding="utf-8")
    (TARGET / f"{package.name}.LICENSE.txt").write_text(
        texts[package.licence_file].strip() + "\n", encoding="utf-8"
    )
    return {
        "package": package.name,
        "version": package.version,
        "licence": json.loads(texts["package.json"])["license"],
        "integrity": metadata["integrity"],
        "file": target.name,
        "sha256": hashlib.sha256(script.encode()).hexdigest(),
        "changed": changes,
    }


def licence_text(package: str, folder: Path) -> str:
    """Return the text of a package's licence."""
    _, texts = download(package, folder)
    return next(text for name, text in texts.items() if name.startswith("LICENSE")).strip()


def main() -> None:
    """Download all packages and write their scripts, licences and ``vendored.json``."""
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        records = [fetch(package, Path(folder)) for package in PACKAGES]
        licences = [f"{package}\n\n{licence_text(package, Path(folder))}" for package in BUNDLED]
    (TARGET / "inside.LICENSE.txt").write_text("\n\n".join(licences) + "\n", encoding="utf-8")
    (TARGET / "vendored.json").write_text(json.dumps(records, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
