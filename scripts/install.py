"""Install packages into a virtual environment: with uv where it can be had, else with pip.

    python scripts/install.py ENVIRONMENT ARGUMENT ...

The arguments are those of ``pip install`` that uv understands too: requirements, ``--constraint``,
``--editable``, ``--group``. A missing environment is made with the interpreter that runs this
script. uv is the one on the path, or comes from the package registry into the folder ``.uv``.

uv does not read pip's settings, so they are read at run time and passed on. Where uv is missing,
fails, or would take a build of torch for graphics cards (gigabytes, which pip may know a way
around), pip installs instead, and a line says why. ``BEIR_EVAL_INSTALLER=pip`` asks for pip.
"""

from __future__ import annotations

import ast
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV_FOLDER = ROOT / ".uv"
#: Settings of pip, and the option of uv that says the same. Each may name several values.
OPTIONS = {
    "index-url": "--index-url",
    "extra-index-url": "--extra-index-url",
    "find-links": "--find-links",
    "constraint": "--constraint",
    "trusted-host": "--allow-insecure-host",
    "only-binary": "--only-binary",
    "no-binary": "--no-binary",
}
#: Settings of pip, and the environment variable from which uv reads the same.
VARIABLES = {
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "HTTPS_PROXY",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
}
#: Packages that a build of torch for graphics cards brings.
FOR_GRAPHICS_CARDS = re.compile(r"(?m)^ \+ ((?:nvidia|cuda|triton)\b\S*)")


class UvFailedError(Exception):
    """uv is missing or cannot do the same as pip."""


def install(environment: Path, arguments: list[str]) -> None:
    """Install into the environment, which is made if it is missing; exit if that fails."""
    environment.mkdir(parents=True, exist_ok=True)
    # Targets of one environment may be made at the same time. (".lock" is uv's own.)
    with (environment / ".installing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        python = environment / "bin" / "python"
        if not python.exists():
            venv.create(environment, symlinks=True)
        if os.environ.get("BEIR_EVAL_INSTALLER") != "pip":
            try:
                return install_by_uv(python, arguments)
            except UvFailedError as error:
                print(f"{environment.name}: pip is used instead of uv: {error}", file=sys.stderr)
        return install_by_pip(python, arguments)


def install_by_uv(python: Path, arguments: list[str]) -> None:
    """Install with uv as pip would.

    Raises:
        UvFailedError: uv cannot be had, fails, or would install what pip is not known to install.
    """
    options, variables = translated(pip_settings())
    command: list[str | Path] = [uv_program(), "pip", "install", "--python", python]
    # pip looks in every index for the best version, uv in the first that has the package; and some
    # packages (nltk) refuse to read files that are hard links, as uv would make them.
    command += ["--index-strategy", "unsafe-best-match", "--link-mode", "copy", "--color", "never"]
    command += [*options, *arguments]
    environment = os.environ | variables
    plan = run_uv([*command, "--dry-run"], environment)
    if packages := FOR_GRAPHICS_CARDS.findall(plan):
        problem = f"it would install torch for graphics cards, with {packages[0]}"
        raise UvFailedError(problem)
    run_uv(command, environment)


def install_by_pip(python: Path, arguments: list[str]) -> None:
    """Install with the pip of the environment, which is put there if it is missing."""
    pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    if subprocess.run([*pip, "--version"], check=False, capture_output=True).returncode:
        subprocess.run([python, "-m", "ensurepip"], check=True, stdout=subprocess.DEVNULL)
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    for wanted in ([*constraints, "--upgrade", "pip"], arguments):
        done = subprocess.run([*pip, "install", *wanted], check=False)
        if done.returncode:
            sys.exit(done.returncode)


def run_uv(command: list[str | Path], environment: dict[str, str]) -> str:
    """Return what uv prints.

    Raises:
        UvFailedError: it fails; with its last lines.
    """
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    except OSError as error:
        raise UvFailedError(str(error)) from None
    if done.returncode:
        raise UvFailedError("\n".join(done.stderr.splitlines()[-5:]))
    return done.stderr


def uv_program() -> Path:
    """Return the path of uv, which is fetched from the package registry if it is missing.

    Raises:
        UvFailedError: it cannot be fetched.
    """
    if on_path := shutil.which("uv"):
        return Path(on_path)
    program = UV_FOLDER / "bin" / "uv"
    if not program.exists():
        # Two targets may fetch it at the same time: whichever comes second keeps the first's.
        with tempfile.TemporaryDirectory(dir=ROOT, prefix=".uv-") as folder:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
            constraints = ["--constraint", str(ROOT / "constraints.txt")]
            done = subprocess.run(
                [*pip, "install", *constraints, "--target", f"{folder}/uv", "uv"],
                check=False,
                capture_output=True,
                text=True,
            )
            if done.returncode:
                reason = done.stderr.strip().splitlines()
                raise UvFailedError(reason[-1] if reason else "it could not be fetched")
            try:
                (Path(folder) / "uv").rename(UV_FOLDER)
            except OSError as error:
                if not program.exists():
                    raise UvFailedError(str(error)) from None
    return program


def pip_settings() -> dict[str, str]:
    """Return the settings of ``pip install``, {name: value}, from its files and the environment.

    Raises:
        UvFailedError: pip is missing or cannot list them.
    """
    lines = run_pip_config("list").splitlines()
    names = [line.partition("=")[0] for line in lines]
    settings: dict[str, str] = {}
    # The section that counts most comes last.
    for section in ("global.", "install.", ":env:."):
        for name, line in zip(names, lines, strict=True):
            if name.startswith(section):
                value = ast.literal_eval(line.partition("=")[2])
                if names.count(name) > 1:  # in several files: pip knows which of them counts
                    value = run_pip_config("get", name).strip()
                if value:
                    settings[name.removeprefix(section)] = value
    return settings


def run_pip_config(*arguments: str) -> str:
    """Return what ``pip config`` prints.

    Raises:
        UvFailedError: it fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PIP_QUIET": "0"},
    )
    if done.returncode:
        problem = f"the settings of pip are not known: {done.stderr.strip()[-200:]}"
        raise UvFailedError(problem)
    return done.stdout


def translated(settings: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the options and the environment variables of uv that say what these of pip say."""
    options = [
        text
        for name, option in OPTIONS.items()
        for value in settings.get(name, "").split()
        for text in (option, value)
    ]
    if settings.get("no-index", "false").lower() in ("1", "true", "yes", "on"):
        options.append("--no-index")
    variables = {
        variable: settings[name] for name, variable in VARIABLES.items() if name in settings
    }
    return options, variables


if __name__ == "__main__":
    if len(sys.argv) < 3:  # noqa: PLR2004 - an environment, and at least one argument
        sys.exit(__doc__)
    install(Path(sys.argv[1]), sys.argv[2:])
