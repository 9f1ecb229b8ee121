"""Sessions and servers of Spark on loopback with bounded memory, for tests and benchmarks.

Each process that is started here carries a token of this Python process in its environment, ends
with it (Linux), and can be found by the token.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

#: The name of the variable that marks a process, and its value for those of this process.
TOKEN_NAME, TOKEN = "BEIR_EVAL_SPARK_TOKEN", uuid.uuid4().hex

#: The settings of every session: loopback, little memory, few partitions.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "700m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "4",
    "spark.log.level": "OFF",
}


def skip_without_java():
    """Skip the module that calls this without Java, with the reason and the remedy."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        pytest.skip(
            "Java is missing; install a JRE 17 or later (Debian: default-jre-headless)",
            allow_module_level=True,
        )


def _prepare_environment():
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        TOKEN_NAME: TOKEN,
    }


def _spark_home():
    import pyspark  # noqa: PLC0415 - after the check that it is installed

    return Path(pyspark.__file__).parent


def free_port():
    """Return the number of a port that is free on loopback."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _end_with_parent():
    # PR_SET_PDEATHSIG: a killed pytest leaves nothing behind either.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Server:
    """A Java process of Spark that is started on loopback and waited for.

    Args:
        arguments: those of ``spark-class``.
        log: the file of its output.
        ready: the text in the output, or the port on loopback, that shows that it is ready.
        memory: its heap.
    """

    def __init__(self, arguments, log, ready, memory="256m"):
        _prepare_environment()
        self.log = Path(log)
        command = [str(_spark_home() / "bin" / "spark-class"), *map(str, arguments)]
        environment = {**os.environ, "SPARK_DAEMON_MEMORY": memory}
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - it only calls prctl
            )
        try:
            self._wait(ready)
        except BaseException:
            self.stop()
            raise

    def _wait(self, ready, seconds=180):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            if isinstance(ready, int):
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", ready)) == 0:
                        return
            elif ready in self.log.read_text(errors="replace"):
                return
            time.sleep(0.1)
        end = self.log.read_text(errors="replace")[-2000:]
        message = f"a server of Spark is not ready (exit code {self.process.poll()}): {end}"
        raise RuntimeError(message)

    def stop(self):
        """End the process; kill it if it has not ended after 20 seconds."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Cluster:
    """A standalone cluster on loopback: a master and workers with a processor each.

    Args:
        folder: for logs and the files of the workers.
        workers: how many workers to start.
    """

    def __init__(self, folder, workers=2):
        self.folder, port = Path(folder), free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self.workers = []
        self.master = Server(
            [
                *("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1"),
                *("--port", port, "--webui-port", free_port()),
            ],
            self.folder / "master.log",
            port,
        )
        try:
            for number in range(1, workers + 1):
                self._start_worker(f"worker-{number}")
        except BaseException:
            self.stop()
            raise

    def _start_worker(self, name):
        """Start a worker that can run one executor."""
        self.workers.append(
            Server(
                [
                    *("org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1"),
                    *("--cores", 1, "--memory", "1g", "--work-dir", self.folder / name),
                    *("--webui-port", free_port(), self.url),
                ],
                self.folder / f"{name}.log",
                "Successfully registered with master",
            )
        )

    def stop(self):
        """End all servers."""
        for server in [*self.workers, self.master]:
            server.stop()
        self.workers.clear()


def connect_server(folder):
    """Start a server of Spark Connect that computes by itself, and return it and its URL.

    Args:
        folder: for its log.
    """
    port = free_port()
    (jar,) = (_spark_home() / "jars").glob("spark-connect_*.jar")
    settings = {
        **SETTINGS,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.sql.warehouse.dir": Path(folder) / "warehouse",
    }
    server = Server(
        [
            *("org.apache.spark.deploy.SparkSubmit", "--master", "local[2]"),
            *("--driver-memory", "1g"),
            *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
            *(part for name, value in settings.items() for part in ("--conf", f"{name}={value}")),
            jar,
        ],
        Path(folder) / "connect.log",
        port,
        memory="1g",
    )
    return server, f"sc://127.0.0.1:{port}"


def classic_session(master, **settings):
    """Return a new classic session.

    Args:
        master: "local[2]" or the URL of a cluster.
        settings: further settings, with ``_`` for ``.`` in their names.
    """
    _prepare_environment()
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master(master).appName("beir-eval tests")
    more = {name.replace("_", "."): value for name, value in settings.items()}
    for name, value in {**SETTINGS, **more}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def stop_classic(session):
    """End a classic session and its Java process, so that the next one can be of another kind."""
    from pyspark import SparkContext  # noqa: PLC0415

    session.stop()
    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()  # at its end the Java process ends
        gateway.proc.wait(30)
        SparkContext._gateway = SparkContext._jvm = None


@contextmanager
def session_of(kind, folder):
    """Yield (session, cluster or None) of a kind, and end everything that was started for it.

    Args:
        kind: "local", "cluster" or "connect".
        folder: for logs and files of the servers.
    """
    _prepare_environment()
    if kind == "connect":
        from pyspark.sql import SparkSession  # noqa: PLC0415

        server, url = connect_server(folder)
        try:
            session = SparkSession.builder.remote(url).getOrCreate()
            try:
                yield session, None
            finally:
                session.stop()
                os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)
                os.environ.pop("SPARK_REMOTE", None)
        finally:
            server.stop()
        return
    cluster = Cluster(folder) if kind == "cluster" else None
    try:
        session = classic_session(
            "local[2]" if cluster is None else cluster.url,
            spark_sql_warehouse_dir=str(Path(folder) / "warehouse"),
        )
        try:
            yield session, cluster
        finally:
            stop_classic(session)
    finally:
        if cluster is not None:
            cluster.stop()


def left_processes():
    """Return {process id: command} of running processes that were started here."""
    marked = f"{TOKEN_NAME}={TOKEN}".encode()
    left = {}
    for pid in _process_ids():
        if pid == os.getpid():
            continue
        try:
            is_ours = marked in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if is_ours and (command := _command_of(pid)):  # a process that has ended has none
            left[pid] = command[:200]
    return left


def kill(pid):
    """Kill a process that ``left_processes`` returned, unless it has ended meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _process_ids():
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _command_of(pid):
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return b" ".join(words).decode(errors="replace")
