"""A real S3 server for the tests: SeaweedFS on loopback, an object store that keeps files on disk.

It checks signatures, takes uploads in parts and lists what is there by S3's own protocol. It is not
Amazon's: what only they do, such as roles and their own addresses of buckets, is not tested.
"""

import json
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from uuid import uuid4

import pyarrow.fs as pa_fs
from tests.servers.jars import NoJars, jars
from tests.servers.kafka import free_ports

START_SECONDS = 60
KEY, SECRET, REGION = "falkirk", "only-for-tests", "eu-west-1"
ALLOWED = ["Read", "Write", "List", "Admin"]
PARTS = ("master", "volume", "filer", "s3")
"""What one process of SeaweedFS consists of; each listens on two ports."""


class NoS3(Exception):
    """Why no S3 server could be started."""


class S3:
    """An S3 server with its data in a folder of its own, and one bucket."""

    bucket = "shop"

    def __init__(self) -> None:
        """Starts it and makes the bucket."""
        try:
            self.jars = jars("s3")
        except NoJars as error:
            raise NoS3(f"the jars could not be fetched: {error}") from error
        command = shutil.which("weed", path=sysconfig.get_path("scripts")) or shutil.which("weed")
        if command is None:
            raise NoS3("SeaweedFS is not installed")
        self.folder = Path(tempfile.mkdtemp(prefix="falkirk-s3-"))
        self.process: subprocess.Popen[bytes] | None = None
        numbers = iter(free_ports(2 * len(PARTS)))
        self._ports = {part: (next(numbers), next(numbers)) for part in PARTS}
        self.endpoint = f"http://127.0.0.1:{self._ports['s3'][0]}"
        self._command = [command, "-logtostderr=true", "server", *self._options()]
        try:
            self.start()
            self._make_bucket()
        except (OSError, NoS3) as error:
            self.remove()
            raise NoS3(str(error)) from error

    def new_folder(self) -> str:
        """A folder that nobody uses, in the words of a store's address."""
        return f"data=s3a://{self.bucket}/{uuid4().hex}/batches"

    def environment(self) -> dict[str, str]:
        """What the documentation tells a user to set."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def settings(self) -> dict[str, str]:
        """What the documentation tells a user to set for Spark."""
        return {
            "spark.jars": ",".join(map(str, self.jars)),
            "spark.hadoop.fs.s3a.endpoint": self.endpoint,
            "spark.hadoop.fs.s3a.path.style.access": "true",
        }

    def start(self) -> None:
        """Starts the server on the data that it has, and waits until it answers."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log, cwd=self.folder)
        deadline = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            if self._answers():
                return
            time.sleep(0.1)
        raise NoS3(f"it did not start: {self.said()}")

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Ends the server; its data stay."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait()

    def remove(self) -> None:
        """Ends the server and removes its data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def said(self) -> str:
        """The end of the log."""
        return (self.folder / "log").read_text("utf-8", "replace")[-1500:]

    def _answers(self) -> bool:
        """Whether it answers, if only to say that a stranger may not ask."""
        try:
            with urllib.request.urlopen(self.endpoint, timeout=5):
                return True
        except urllib.error.HTTPError as error:
            return error.code == 403
        except OSError:
            return False

    def _make_bucket(self) -> None:
        host = self.endpoint.removeprefix("http://")
        keys = {"access_key": KEY, "secret_key": SECRET, "region": REGION}
        servers = pa_fs.S3FileSystem(
            endpoint_override=host, scheme="http", allow_bucket_creation=True, **keys
        )
        servers.create_dir(self.bucket)

    def _options(self) -> list[str]:
        keys = [{"accessKey": KEY, "secretKey": SECRET}]
        config = {"identities": [{"name": KEY, "credentials": keys, "actions": ALLOWED}]}
        (self.folder / "s3.json").write_text(json.dumps(config), "utf-8")
        options: dict[str, object] = {
            "dir": self.folder,
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            "filer": "true",
            "filer.localSocket": self.folder / "filer.sock",
            "s3": "true",
            "s3.config": self.folder / "s3.json",
            "s3.localSocket": self.folder / "s3.sock",
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "iam": "false",
            # It tells nobody of itself.
            "master.telemetry": "false",
            "master.volumeSizeLimitMB": 64,
            "volume.max": 0,
        }
        for part, (plain, internal) in self._ports.items():
            options |= {f"{part}.port": plain, f"{part}.port.grpc": internal}
        return [f"-{name}={value}" for name, value in options.items()]
