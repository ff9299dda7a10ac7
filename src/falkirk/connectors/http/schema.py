"""A schema in Spark's DDL, read without Spark: ``"item BIGINT NOT NULL, tags ARRAY<STRING>"``."""

import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.connectors.http.misfit import Misfit
from falkirk.connectors.http.types import (
    PLAIN,
    SAME,
    Field,
    Type,
    array,
    decimal,
    mapping,
    object_of,
    struct,
)
from falkirk.core.errors import ConfigurationError

TOKEN = re.compile(r"\s*(`[^`]+`|\w+|[<>(),:])")


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a request.

    >>> Schema.read("item BIGINT NOT NULL, tag STRING").rows({"item": 7})
    [{'item': 7, 'tag': None}]
    """

    fields: tuple[Field, ...]

    @classmethod
    def read(cls, ddl: str) -> "Schema":
        """The schema that is written in ``ddl``."""
        reader = Reader(ddl)
        fields = reader.fields(end="")
        for each in fields:
            if each.name.startswith("_"):
                raise ConfigurationError(
                    f"the column {each.name!r} of a request begins with an underscore, as those do"
                    " that are added to it: call it something else"
                )
        return cls(fields)

    @property
    def arrow(self) -> Any:
        """The same for Arrow. Whatever is null or not, Spark is told that it may be."""
        return pa.schema([pa.field(each.name, each.type.arrow) for each in self.fields])

    def rows(self, body: Any) -> list[dict[str, Any]]:
        """The rows of a body: an object, or a list of them; raises :class:`Misfit`."""
        check = object_of(self.fields)
        if not isinstance(body, list):
            return [check(body, "")]
        if not body:
            raise Misfit("", "a list without rows asks for nothing")
        return [check(row, f"[{i}]") for i, row in enumerate(body)]


class Reader:
    """Reads a schema, token by token."""

    def __init__(self, ddl: str) -> None:
        """At the beginning of ``ddl``."""
        self.ddl, self.tokens, at = ddl, list[str](), 0
        while at < len(ddl.rstrip()):
            found = TOKEN.match(ddl, at)
            if found is None:
                raise self.error(f"{ddl[at:].strip()[:20]!r} is nothing that belongs there")
            self.tokens.append(found[1])
            at = found.end()
        self.tokens.append("")

    def error(self, problem: str) -> ConfigurationError:
        """What is wrong with the schema."""
        return ConfigurationError(
            f"the schema {self.ddl!r} cannot be read: {problem}. Write name TYPE [NOT NULL], …"
        )

    def take(self, *wanted: str) -> str:
        """The next token, one of ``wanted`` if any are given."""
        token = self.tokens.pop(0)
        if wanted and token.upper() not in wanted:
            names = " or ".join(map(repr, wanted))
            raise self.error(f"there is {token or 'its end'!r} in the place of {names}")
        return token

    def accept(self, wanted: str) -> bool:
        """Takes the next token if it is ``wanted``."""
        if self.tokens[0].upper() != wanted:
            return False
        self.tokens.pop(0)
        return True

    def fields(self, end: str) -> tuple[Field, ...]:
        """Fields up to the token ``end``."""
        found: list[Field] = []
        while True:
            name = self.take()
            if not re.fullmatch(r"`[^`]+`|\w+", name):
                raise self.error(f"{name or 'its end'!r} is no name")
            self.accept(":")
            kind = self.type()
            nullable = not self.accept("NOT")
            if not nullable:
                self.take("NULL")
            found.append(Field(name.strip("`"), kind, nullable))
            if self.take(",", end) == end:
                break
        names = [each.name.lower() for each in found]
        for each in found:
            if names.count(each.name.lower()) > 1:
                raise self.error(f"{each.name!r} is there twice")
        return tuple(found)

    def type(self) -> Type:
        """One type."""
        word = self.take().upper()
        if word in ("DECIMAL", "NUMERIC", "DEC"):
            return self.decimal()
        if word in ("ARRAY", "STRUCT", "MAP"):
            self.take("<")
            if word == "STRUCT":
                return struct(self.fields(end=">"))
            if word == "MAP":
                self.take("STRING")
                self.take(",")
            inner = self.type()
            self.take(">")
            return array(inner) if word == "ARRAY" else mapping(inner)
        plain = PLAIN.get(SAME.get(word, word))
        if plain is None:
            known = ", ".join([*PLAIN, "DECIMAL(p,s)", "ARRAY<…>", "MAP<STRING,…>", "STRUCT<…>"])
            raise self.error(f"{word or 'its end'!r} is no type; there are {known}")
        return plain

    def decimal(self) -> Type:
        """Precision and scale, (10, 0) if they are not given."""
        precision, scale = 10, 0
        if self.accept("("):
            precision = self.number()
            scale = self.number() if self.accept(",") else 0
            self.take(")")
        if not (1 <= precision <= 38 and 0 <= scale <= precision):
            raise self.error(f"there is no DECIMAL({precision},{scale})")
        return decimal(precision, scale)

    def number(self) -> int:
        """A number."""
        token = self.take()
        if not token.isdecimal():
            raise self.error(f"{token!r} is no number")
        return int(token)
