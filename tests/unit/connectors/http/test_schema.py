"""Schemas of requests: what is read from DDL, and which bodies fit."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from falkirk.connectors.http.body import parsed
from falkirk.connectors.http.misfit import Misfit
from falkirk.connectors.http.schema import Schema
from falkirk.core.errors import ConfigurationError

EVERYTHING = """
    a TINYINT, b SMALLINT, c INT, d BIGINT NOT NULL, e FLOAT, f DOUBLE, g BOOLEAN, h STRING,
    i BINARY, j DATE, k TIMESTAMP, l TIMESTAMP_NTZ, m DECIMAL(38, 4), n ARRAY<ARRAY<INT>>,
    o MAP<STRING, BIGINT>, p STRUCT<x: INT NOT NULL, y: STRING>, `q q` STRING
"""


def test_every_type_goes_into_arrow() -> None:
    body = {
        "a": -128,
        "b": 32767,
        "c": 1,
        "d": 2**63 - 1,
        "e": 1,
        "f": 0.5,
        "g": True,
        "h": "ä",
        "i": "aGk=",
        "j": "2031-05-17",
        "k": "2031-05-17T10:00:00+02:00",
        "l": "2031-05-17T10:00:00",
        "m": "1234567890123456789012345678901234.5",
        "n": [[1, None], None, []],
        "o": {"x": 1, "y": None},
        "p": {"x": 1},
        "q q": "blank",
    }
    schema = Schema.read(EVERYTHING)
    (row,) = pa.Table.from_pylist(schema.rows(body), schema=schema.arrow).to_pylist()
    assert row == {
        **body,
        "i": b"hi",
        "j": date(2031, 5, 17),
        "k": datetime(2031, 5, 17, 8, tzinfo=UTC),
        "l": datetime(2031, 5, 17, 10),
        "m": Decimal("1234567890123456789012345678901234.5000"),
        "o": [("x", 1), ("y", None)],
        "p": {"x": 1, "y": None},
    }


WRONG = [
    ("a INT", {"a": 1.5}, "a", "1.5 is no INT"),
    ("a INT", {"a": True}, "a", "true is no INT"),
    ("a INT", {"a": 2**31}, "a", "does not fit into INT"),
    ("a INT", [{"a": 1}, {"a": "x"}], "[1].a", '"x" is no INT'),
    ("a INT", {"b": 1}, "b", "no such field: a"),
    ("a INT NOT NULL", {}, "a", "INT NOT NULL is missing"),
    ("a INT NOT NULL", {"a": None}, "a", "INT NOT NULL is missing"),
    ("a INT", [], "", "asks for nothing"),
    ("a INT", 5, "", "5 is no object"),
    ("a INT", [[1]], "[0]", "is no object"),
    ("a DOUBLE", {"a": 10**400}, "a", "does not fit into DOUBLE"),
    ("a STRING", {"a": "\ud800"}, "a", "surrogate"),
    ("a BINARY", {"a": "?"}, "a", "write base64"),
    ("a DATE", {"a": "17.5."}, "a", "no DATE"),
    ("a TIMESTAMP", {"a": "soon"}, "a", "no TIMESTAMP"),
    ("a TIMESTAMP_NTZ", {"a": "2031-05-17T10:00:00Z"}, "a", "with no offset"),
    ("a DECIMAL(5,2)", {"a": "1234.5"}, "a", "does not fit into DECIMAL(5,2)"),
    ("a DECIMAL(5,2)", {"a": "1.005"}, "a", "does not fit into DECIMAL(5,2)"),
    ("a DECIMAL(5,2)", {"a": "NaN"}, "a", "DECIMAL(5,2)"),
    ("a ARRAY<INT>", {"a": [1, "x"]}, "a[1]", '"x" is no INT'),
    ("a STRUCT<b: ARRAY<STRUCT<c: INT>>>", {"a": {"b": [{"c": "x"}]}}, "a.b[0].c", "is no INT"),
    ("a MAP<STRING,INT>", {"a": {"k": "x"}}, "a.k", '"x" is no INT'),
]


@pytest.mark.parametrize(("ddl", "body", "place", "problem"), WRONG)
def test_what_does_not_fit_is_told_with_its_place(
    ddl: str, body: Any, place: str, problem: str
) -> None:
    with pytest.raises(Misfit) as found:
        Schema.read(ddl).rows(body)
    assert found.value.place == place
    assert problem in found.value.problem


@pytest.mark.parametrize(
    ("ddl", "problem"),
    [
        ("a", "is no type"),
        ("a INT,", "is no name"),
        ("", "is no name"),
        ("a INT b INT", "in the place of"),
        ("a NUMBER", "'NUMBER' is no type"),
        ("a ARRAY<INT", "in the place of '>'"),
        ("a DECIMAL(39,0)", r"no DECIMAL\(39,0\)"),
        ("a DECIMAL(x)", "is no number"),
        ("a INT, A INT", "there twice"),
        ("a INT NOT", "in the place of 'NULL'"),
        ("_key STRING", "underscore"),
        ("a ; INT", "nothing that belongs there"),
    ],
)
def test_a_schema_that_cannot_be_read_is_told(ddl: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        Schema.read(ddl)


@pytest.mark.parametrize(
    ("body", "place", "problem"),
    [
        (b'{"a": 1,}', "line 1, column", "no JSON"),
        (b'{"a":\n NaN}', "", "NaN is no number"),
        (b"\xff", "", "not UTF-8"),
        (b"[" * 100_000, "", "nested too deeply"),
        (b"1" * 5_000, "", "no JSON"),
    ],
    ids=["comma", "NaN", "bytes", "depth", "digits"],
)
def test_what_is_no_json_is_told(body: bytes, place: str, problem: str) -> None:
    with pytest.raises(Misfit) as found:
        parsed(body)
    assert place in found.value.place
    assert problem in found.value.problem
