"""Tables of SQL databases: as a sink, as a source by a monotone key, and as a queue."""

from falkirk.connectors.sql.queue import QueueSource
from falkirk.connectors.sql.sink import TableSink
from falkirk.connectors.sql.source import TableSource
from falkirk.connectors.sql.together import TableSinks

__all__ = ["QueueSource", "TableSink", "TableSinks", "TableSource"]
