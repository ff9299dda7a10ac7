"""Falkirk Wheel rollback recovery for dataflow, carried out on Apache Spark."""

from falkirk.connectors import Files, Function, Numbers, ParquetSink
from falkirk.core.errors import FalkirkError
from falkirk.core.policy import (
    Policy,
    at_least_once,
    batch,
    eager,
    ephemeral,
    history,
    lazy,
    snapshot,
)
from falkirk.dataflow import Batch, Context, Dataflow, Limit, Processor, Sink, Source, Stream
from falkirk.running import run
from falkirk.runtime.options import Options

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Context",
    "Dataflow",
    "FalkirkError",
    "Files",
    "Function",
    "Limit",
    "Numbers",
    "Options",
    "ParquetSink",
    "Policy",
    "Processor",
    "Sink",
    "Source",
    "Stream",
    "at_least_once",
    "batch",
    "eager",
    "ephemeral",
    "history",
    "lazy",
    "run",
    "snapshot",
]
