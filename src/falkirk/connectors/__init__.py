"""Sources and sinks, one file a system."""

from falkirk.connectors.files import Files
from falkirk.connectors.function import Function
from falkirk.connectors.numbers import Numbers
from falkirk.connectors.parquet import ParquetSink

__all__ = ["Files", "Function", "Numbers", "ParquetSink"]
