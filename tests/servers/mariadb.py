"""A real MariaDB server for the tests: from the system, or the one that scripts/mariadb fetched."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pymysql
from pymysql.cursors import DictCursor

from falkirk.runtime.java import cache_folder

START_SECONDS = 60

OPTIONS = {
    "skip-networking": None,
    "skip-grant-tables": None,  # everybody may do everything, whatever the password
    "innodb-flush-method": "nosync",
    "innodb-buffer-pool-size": "32M",
    "innodb-log-file-size": "16M",
    # What we need is told to each session and each table, and must not come from the server.
    "character-set-server": "latin1",
    "default-time-zone": "+05:00",
    "sql-mode": "",
}


class NoMariadb(Exception):
    """Why no server could be started."""


class Mariadb:
    """A server that listens on a socket in its own folder, until it is stopped."""

    def __init__(self) -> None:
        """Makes it in an empty folder, and starts it."""
        self._shared: str | None = None
        binary = found_binary()
        self.folder = Path(tempfile.mkdtemp(prefix="falkirk-mariadb-"))
        (self.folder / "data").mkdir()
        places = {"datadir": self.folder / "data", "socket": self.folder / "socket"}
        more = {"user": "root"} if os.geteuid() == 0 else {}  # it must be asked for
        given = {**OPTIONS, **places, **more}
        words = [f"--{k}" if v is None else f"--{k}={v}" for k, v in given.items()]
        self._command = [binary, "--no-defaults", *words]
        # Whoever was never stopped cleanly cannot be killed, either.
        first = [*self._command, "--bootstrap"]
        try:
            subprocess.run(first, check=True, input=b"", capture_output=True, timeout=START_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            said = (getattr(error, "stderr", None) or b"").decode("utf-8", "replace")
            raise NoMariadb(f"{error} {said[-2000:]}") from error
        self._run()

    def _run(self) -> None:
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        with log.open("wb") as output:
            self.process = subprocess.Popen(self._command, stdout=output, stderr=output)
        deadline, said = time.monotonic() + START_SECONDS, ""
        while self.process.poll() is None and time.monotonic() < deadline:
            said = log.read_text("utf-8", "replace")
            if "ready for connections" in said:
                return
            time.sleep(0.02)
        self.stop()
        raise NoMariadb(f"the server did not start: {said[-2000:]}")

    def address(self, database: str) -> str:
        """The address of a database; nobody listens in on a socket, and TLS takes its time."""
        options = f"unix_socket={self.folder / 'socket'}&ssl_disabled=true"
        return f"mysql://falkirk@localhost/{database}?{options}"

    def new_database(self) -> str:
        """The address of a new, empty database."""
        name = f"store_{uuid4().hex}"
        with connect(self.address("")) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def empty_database(self) -> str:
        """The address of one database that is emptied each time."""
        if self._shared is None:
            self._shared = self.new_database()
        with connect(self._shared) as connection:
            for row in connection.execute("SHOW TABLES").fetchall():
                (table,) = row.values()
                connection.execute(f'DROP TABLE "{table}"')
        return self._shared

    def halt(self) -> None:
        """Ends the server as a crash would; what is committed is still there."""
        self.process.kill()
        self.process.wait(START_SECONDS)

    def resume(self) -> None:
        """Starts the server again on the same data."""
        self._run()

    def stop(self) -> None:
        """Stops the server and removes all that it wrote."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)  # at once: all that it has is thrown away
            self.process.wait(START_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)


class Connection(pymysql.connections.Connection):  # type: ignore[type-arg]
    """A connection that carries out statements itself, as those of other drivers do."""

    def execute(self, statement: str) -> Any:
        """What a statement gives."""
        cursor = self.cursor()
        cursor.execute(statement)
        return cursor


def connect(address: str) -> Connection:
    """A connection that commits at once, takes names in double quotes, and gives rows as dicts."""
    parts = urlsplit(address)
    return Connection(
        unix_socket=parse_qs(parts.query)["unix_socket"][0],
        user="falkirk",
        database=parts.path.strip("/") or None,
        ssl_disabled=True,
        autocommit=True,
        cursorclass=DictCursor,
        init_command="SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES', time_zone = '+00:00'",
    )


def found_binary() -> str:
    """MARIADBD, one on the path, or the one that was fetched."""
    fetched = cache_folder(os.environ) / "mariadb" / "mariadbd"
    for name in (os.environ.get("MARIADBD"), "mariadbd", "/usr/sbin/mariadbd", str(fetched)):
        if name and (found := shutil.which(name)):
            return found
    raise NoMariadb("none is installed: scripts/mariadb fetches one")
