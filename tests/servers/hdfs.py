"""A real HDFS for the tests: a NameNode and a DataNode on loopback, by Spark's Java and jars."""

import getpass
import json
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4
from xml.sax.saxutils import escape

import pyspark
from tests.servers.jars import NoJars, jars
from tests.servers.kafka import JAVA, free_ports

from falkirk.runtime.java import find_java_home

START_SECONDS = 120
NEEDED = ("hadoop-client-*", "slf4j-api-*", "log4j-*", "jcl-over-slf4j-*", "*servlet-api-*")
"""The jars of PySpark that the servers need; what they lack is the set `hdfs` of the lock."""

SERVERS = "org.apache.hadoop.hdfs.server"


class NoHdfs(Exception):
    """Why no HDFS could be started."""


class Hdfs:
    """An HDFS with its data in a folder of its own: ``rpc`` is its root for Spark, ``web`` by HTTP.

    The user who starts it may do everything in it, and nobody else may.
    """

    def __init__(self) -> None:
        """Fetches the jar, formats the file system and starts it."""
        try:
            import fsspec  # noqa: F401
        except ImportError as error:
            raise NoHdfs(str(error)) from error
        try:
            servers = jars("hdfs")
        except NoJars as error:
            raise NoHdfs(f"the jar could not be fetched: {error}") from error
        self.folder = Path(tempfile.mkdtemp(prefix="falkirk-hdfs-"))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.names, self.http, *self.data = free_ports(5)
        self.rpc, self.web = f"hdfs://127.0.0.1:{self.names}", f"webhdfs://127.0.0.1:{self.http}"
        given = Path(pyspark.__file__).parent / "jars"
        found = [jar for pattern in NEEDED for jar in sorted(given.glob(pattern))]
        self._path = ":".join(map(str, [self.folder, *servers, *found]))
        try:
            self._configure()
            format_it = self._command("namenode.NameNode", "-format", "-nonInteractive")
            subprocess.run(format_it, check=True, capture_output=True, timeout=START_SECONDS)
            self.start()
        except (OSError, subprocess.SubprocessError, NoHdfs) as error:
            said = self.said()
            self.remove()
            raise NoHdfs(f"{error} {said}") from error

    def new_folder(self) -> str:
        """A folder that nobody uses, in the words of a store's address."""
        name = uuid4().hex
        return f"data={self.rpc}/{name}&via={self.web}/{name}"

    def start(self) -> None:
        """Starts both servers on the data that they have, and waits until files can be written."""
        self._start("namenode.NameNode", lambda: self._live() >= 0)
        self._start("datanode.DataNode", lambda: self._live() == 1)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends both servers; their data stay."""
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(how)
        for process in self.processes.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def remove(self) -> None:
        """Ends both servers and removes their data."""
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def said(self) -> str:
        """The ends of the logs."""
        logs = sorted(self.folder.glob("*.log"))
        return "".join(f"{log.name}: {log.read_text('utf-8', 'replace')[-1500:]}" for log in logs)

    def _start(self, name: str, ready: Callable[[], bool]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(self._command(name), stdout=log, stderr=log)
        self.processes[name] = process
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if ready():
                return
            time.sleep(0.1)
        raise NoHdfs(f"{name} did not start")

    def _live(self) -> int:
        """How many DataNodes the NameNode knows; -1 if it does not answer, or not yet."""
        query = "jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/{query}", timeout=5) as sent:
                beans = json.load(sent)["beans"]
        except (OSError, ValueError):
            return -1
        return int(beans[0]["NumLiveDataNodes"]) if beans else -1

    def _command(self, server: str, *words: str) -> list[str]:
        java = str(find_java_home() / "bin" / "java")
        quiet = ["-Dlog4j2.level=warn", "-Djava.net.preferIPv4Stack=true"]
        return [java, *JAVA, *quiet, "-cp", self._path, f"{SERVERS}.{server}", *words]

    def _configure(self) -> None:
        core = {
            "fs.defaultFS": f"hdfs://127.0.0.1:{self.names}",
            "hadoop.tmp.dir": self.folder / "tmp",
            "hadoop.http.staticuser.user": getpass.getuser(),
        }
        hdfs = {
            "dfs.namenode.rpc-address": f"127.0.0.1:{self.names}",
            "dfs.namenode.http-address": f"127.0.0.1:{self.http}",
            "dfs.namenode.name.dir": (self.folder / "names").as_uri(),
            "dfs.namenode.safemode.threshold-pct": 0,
            "dfs.namenode.safemode.extension": 0,
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.datanode.data.dir": (self.folder / "data").as_uri(),
            "dfs.datanode.address": f"127.0.0.1:{self.data[0]}",
            "dfs.datanode.http.address": f"127.0.0.1:{self.data[1]}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{self.data[2]}",
            "dfs.datanode.hostname": "127.0.0.1",
            "dfs.heartbeat.interval": 1,
            "dfs.replication": 1,
        }
        for name, settings in (("core", core), ("hdfs", hdfs)):
            properties = "".join(
                f"<property><name>{key}</name><value>{escape(str(value))}</value></property>"
                for key, value in settings.items()
            )
            text = f"<configuration>{properties}</configuration>"
            (self.folder / f"{name}-site.xml").write_text(text, "utf-8")
