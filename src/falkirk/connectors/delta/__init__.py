"""Delta Lake: tables as sinks."""

from falkirk.connectors.delta.sink import DeltaSink

__all__ = ["DeltaSink"]
