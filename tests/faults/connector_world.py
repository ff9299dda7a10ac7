"""What is outside of a flow that is killed, and the numbers that go through it."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import psycopg
from tests.servers import mariadb

EPOCHS, ROWS, KEYS = 4, 6, 3


def values(epoch: int) -> list[int]:
    """The numbers of one epoch."""
    return list(range(epoch * ROWS, (epoch + 1) * ROWS))


@dataclass(frozen=True)
class World:
    """What is outside of the flow: a folder, databases of servers, and Kafka if there is one."""

    folder: Path
    postgres: str = ""
    kafka: str = ""
    mariadb: str = ""

    def url(self, kind: str) -> str:
        """The address of a database for SQLAlchemy."""
        servers = {"postgres": self.postgres, "mariadb": self.mariadb}
        return servers.get(kind, f"sqlite:///{self.folder}/outside.sqlite")

    def execute(self, kind: str, *statements: str) -> None:
        """Carries out statements by the database's own driver."""
        if kind == "postgres":
            with psycopg.connect(self.postgres) as server:
                for statement in statements:
                    server.execute(statement)
            return
        if kind == "mariadb":
            with mariadb.connect(self.mariadb) as connection:
                for statement in statements:
                    connection.execute(statement)
            return
        with sqlite3.connect(self.folder / "outside.sqlite", timeout=30) as file:
            for statement in statements:
                file.execute(statement)
        file.close()

    def rows(self, kind: str, query: str) -> list[tuple[Any, ...]]:
        """What a query finds, by the database's own driver."""
        if kind == "postgres":
            with psycopg.connect(self.postgres) as server:
                return [tuple(row) for row in server.execute(query).fetchall()]
        if kind == "mariadb":
            with mariadb.connect(self.mariadb) as connection:
                return [tuple(row.values()) for row in connection.execute(query).fetchall()]
        with sqlite3.connect(self.folder / "outside.sqlite", timeout=30) as file:
            found = file.execute(query).fetchall()
        file.close()
        return found


def topic(world: World, name: str) -> str:
    """The name of a topic that no other campaign has."""
    return f"{name}-{uuid5(NAMESPACE_URL, str(world.folder)).hex}"
