"""Sources and sinks, one file a system."""

from falkirk.connectors.dead_letters import DeadLetters
from falkirk.connectors.delta import DeltaSink
from falkirk.connectors.file_sink import FileSink
from falkirk.connectors.files import Files
from falkirk.connectors.function import Function
from falkirk.connectors.http import HttpRequests
from falkirk.connectors.kafka import KafkaSink, KafkaSource
from falkirk.connectors.numbers import Numbers
from falkirk.connectors.parquet import ParquetSink
from falkirk.connectors.python_sink import PythonSink
from falkirk.connectors.python_source import PythonSource
from falkirk.connectors.sql import QueueSource, TableSink, TableSinks, TableSource

__all__ = [
    "DeadLetters",
    "DeltaSink",
    "FileSink",
    "Files",
    "Function",
    "HttpRequests",
    "KafkaSink",
    "KafkaSource",
    "Numbers",
    "ParquetSink",
    "PythonSink",
    "PythonSource",
    "QueueSource",
    "TableSink",
    "TableSinks",
    "TableSource",
]
