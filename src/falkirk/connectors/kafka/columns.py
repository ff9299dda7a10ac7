"""The columns of Kafka's records, as Spark's connector names them, and expressions to parse them.

``key``, ``value``, ``topic``, ``partition``, ``offset``, ``timestamp``, ``timestampType``, and
``headers`` if they are asked for. Key and value are bytes.
"""

from typing import Any

COLUMNS = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
}
HEADERS = "array<struct<key: string, value: binary>>"


def arrow_schema(headers: bool = False) -> Any:
    """The columns as Arrow has them."""
    import pyarrow as pa  # type: ignore[import-untyped]

    kinds = {
        "binary": pa.binary(),
        "string": pa.string(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }
    columns = [(name, kinds[kind]) for name, kind in COLUMNS.items()]
    if headers:
        pair = pa.struct([("key", pa.string()), ("value", pa.binary())])
        columns.append(("headers", pa.list_(pair)))
    return pa.schema(columns)


def spark_schema(headers: bool = False) -> str:
    """The columns in Spark's DDL."""
    columns = {**COLUMNS, "headers": HEADERS} if headers else COLUMNS
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def text(column: str = "value", name: str | None = None) -> str:
    """An expression for a column of bytes as text.

    >>> text("key")
    'CAST(key AS STRING) AS key'
    """
    return f"CAST({column} AS STRING) AS {name or column}"


def json(schema: str, column: str = "value", name: str | None = None) -> str:
    """An expression for a column of bytes that are JSON, as a struct of ``schema`` (DDL).

    Select its fields in a second step, by ``value.*``. What is no JSON becomes null.

    >>> json("id BIGINT, name STRING")
    "from_json(CAST(value AS STRING), 'id BIGINT, name STRING') AS value"
    """
    quoted = schema.replace("\\", "\\\\").replace("'", "\\'")
    return f"from_json(CAST({column} AS STRING), '{quoted}') AS {name or column}"
