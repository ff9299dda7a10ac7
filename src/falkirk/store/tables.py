"""The tables of a store. Everything that is not looked up by is JSON text."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

FORMAT = 2
"""The version of what is stored. In the second one batches may be parts of files."""

READABLE = ("1", "2")
"""A store of an older version is brought to this one when it is opened; all others are refused."""

BASE = ""
"""Stands where the time of a record would stand, for what is folded below the low-watermark."""

metadata = MetaData()

facts = Table(
    "facts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started", Text, nullable=False),
    Column("acquired", Float(53), nullable=False),
    Column("expires", Float(53), nullable=False),
)

processors = Table(
    "processors",
    metadata,
    Column("name", Text, primary_key=True),
    Column("incarnation", BigInteger, nullable=False),
    Column("base", Text),
)

records = Table(
    "records",
    metadata,
    Column("processor", Text, nullable=False),
    Column("time", Text, nullable=False),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("processor", "time"),
)

log = Table(
    "log",
    metadata,
    Column("processor", Text, nullable=False),
    Column("time", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("edge", Text, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("sent_time", Text, nullable=False),
    Column("batch", Text),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("processor", "time", "position"),
    Index("log_by_edge", "edge"),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("processor", Text, nullable=False),
    Column("frontier", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("captured", Text),
    UniqueConstraint("processor", "frontier"),
    sqlite_autoincrement=True,
)

batches = Table(
    "batches",
    metadata,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("checksum", Text, nullable=False),
)

uses = Table(
    "uses",
    metadata,
    Column("batch", Text, nullable=False),
    Column("processor", Text, nullable=False),
    Column("time", Text, nullable=False),
    # "record", "base", or the position of a logged message within its record.
    Column("part", Text, nullable=False),
    PrimaryKeyConstraint("batch", "processor", "time", "part"),
    Index("uses_by_owner", "processor", "time"),
)
