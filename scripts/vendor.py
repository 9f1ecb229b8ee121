"""Fetch the scripts of the report from npm, with their licences, into ``report/vendor``.

Run by hand, with npm at hand, where a version is to change::

    python scripts/vendor.py

``vendored.json`` records what was fetched; a test holds the files against it.
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
    """A package of npm, and which of its files the report holds."""

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

#: What vega.min.js and vega-lite.min.js hold of others; their licences want to be named too.
INSIDE = (
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
    """Return the interpreter, published as a module only, as a script that adds itself to vega."""
    opened, begins = _IMPORT.subn(r"(function () {\nconst \1 = vega;", module)
    closed, ends = _EXPORT.subn("vega.expressionInterpreter = expression;\n})();", opened)
    if (begins, ends) != (1, 1) or re.search(r"^(import|export)\b", closed, re.MULTILINE):
        msg = "vega-interpreter is laid out differently now; look at it"
        raise SystemExit(msg)
    return closed


def packed(wanted: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return what npm says about a package, and its text files by name."""
    done = subprocess.run(  # noqa: S603
        ["npm", "pack", wanted, "--json"],  # noqa: S607
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    [about] = json.loads(done.stdout)
    texts = {}
    with tarfile.open(folder / about["filename"]) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                texts[member.name.partition("/")[2]] = file.read().decode(errors="replace")
    return about, texts


def fetch(package: Package, folder: Path) -> dict[str, str]:
    """Write the script and the licence of one package, and return what is recorded of it."""
    about, texts = packed(f"{package.name}@{package.version}", folder)
    script = _SOURCE_MAP.sub("", texts[package.script]).rstrip() + "\n"
    changed = "the source map's address is left out"
    if package.name == "vega-interpreter":
        script = as_plain_script(script)
        changed += "; the module became a script: its import and export lines"
    target = TARGET / Path(package.script).name
    target.write_text(script, encoding="utf-8")
    (TARGET / f"{package.name}.LICENSE.txt").write_text(
        texts[package.licence_file].strip() + "\n", encoding="utf-8"
    )
    return {
        "package": package.name,
        "version": package.version,
        "licence": json.loads(texts["package.json"])["license"],
        "integrity": about["integrity"],
        "file": target.name,
        "sha256": hashlib.sha256(script.encode()).hexdigest(),
        "changed": changed,
    }


def licence_of(wanted: str, folder: Path) -> str:
    """Return the text of a package's licence."""
    _, texts = packed(wanted, folder)
    return next(text for name, text in texts.items() if name.startswith("LICENSE")).strip()


def main() -> None:
    """Fetch all."""
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        records = [fetch(package, Path(folder)) for package in PACKAGES]
        inside = [f"{one}\n\n{licence_of(one, Path(folder))}" for one in INSIDE]
    (TARGET / "inside.LICENSE.txt").write_text("\n\n".join(inside) + "\n", encoding="utf-8")
    (TARGET / "vendored.json").write_text(json.dumps(records, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
