"""The API in which a flow is written: it describes and never executes."""

from falkirk.dataflow.admission import Adaptive, adaptive
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.builder import Dataflow
from falkirk.dataflow.connecting import JointSink, Limit, Sink, Source
from falkirk.dataflow.context import Context, State
from falkirk.dataflow.description import describe
from falkirk.dataflow.grouped import Grouped
from falkirk.dataflow.node import Input, Node
from falkirk.dataflow.processor import Processor
from falkirk.dataflow.stream import Stream

__all__ = [
    "Adaptive",
    "Batch",
    "Blueprint",
    "Context",
    "Dataflow",
    "Grouped",
    "Input",
    "JointSink",
    "Limit",
    "Node",
    "Processor",
    "Sink",
    "Source",
    "State",
    "Stream",
    "adaptive",
    "describe",
]
