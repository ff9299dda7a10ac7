"""Falkirk Wheel rollback recovery for dataflow, carried out on Apache Spark."""

from falkirk.connectors import (
    DeadLetters,
    DeltaSink,
    Files,
    FileSink,
    Function,
    HttpRequests,
    KafkaSink,
    KafkaSource,
    Numbers,
    ParquetSink,
    PythonSink,
    PythonSource,
    QueueSource,
    TableSink,
    TableSinks,
    TableSource,
)
from falkirk.core.errors import FalkirkError
from falkirk.core.policy import (
    Policy,
    at_least_once,
    batch,
    eager,
    ephemeral,
    history,
)
from falkirk.dataflow import (
    Batch,
    Context,
    Dataflow,
    JointSink,
    Limit,
    Processor,
    Sink,
    Source,
    Stream,
    adaptive,
)
from falkirk.dataflow.policies import lazy, snapshot
from falkirk.running import read_state, run
from falkirk.runtime.listening import Listener
from falkirk.runtime.options import Options

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Context",
    "Dataflow",
    "DeadLetters",
    "DeltaSink",
    "FalkirkError",
    "FileSink",
    "Files",
    "Function",
    "HttpRequests",
    "JointSink",
    "KafkaSink",
    "KafkaSource",
    "Limit",
    "Listener",
    "Numbers",
    "Options",
    "ParquetSink",
    "Policy",
    "Processor",
    "PythonSink",
    "PythonSource",
    "QueueSource",
    "Sink",
    "Source",
    "Stream",
    "TableSink",
    "TableSinks",
    "TableSource",
    "adaptive",
    "at_least_once",
    "batch",
    "eager",
    "ephemeral",
    "history",
    "lazy",
    "read_state",
    "run",
    "snapshot",
]
