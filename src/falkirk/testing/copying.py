"""A flow's operators as a new process would have them: copies, which remember nothing.

Locks and what belongs to Spark cannot be copied. The copy of a lock is a new one, and Spark is the
same after a crash: only the driver dies.
"""

import copy
import copyreg
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from textwrap import shorten
from typing import Any

from falkirk.core.errors import ConfigurationError
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.node import Node
from falkirk.dataflow.processor import Processor

ERROR_MAX = 200
"""How much of another's error is told."""

LOCKS = (threading.Lock, threading.RLock)
"""What makes the locks that there are."""

SHARED = (
    ("pyspark.sql.session", "SparkSession"),
    ("pyspark.sql.classic.dataframe", "DataFrame"),
    ("pyspark.sql.connect.session", "SparkSession"),
    ("pyspark.sql.connect.dataframe", "DataFrame"),
)
"""Classes, by module, whose objects live on when a driver dies."""


def afresh(blueprint: Blueprint) -> Blueprint:
    """The same flow with operators that remember nothing; two that share something still do."""
    memory: dict[int, Any] = {}
    with _copyable():
        nodes = {
            name: replace(node, operator=_copied(node, memory))
            if isinstance(node.operator, Processor)
            else node
            for name, node in blueprint.nodes.items()
        }
    return replace(blueprint, nodes=nodes)


def _copied(node: Node, memory: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(node.operator, memory)
    except Exception as error:
        raise ConfigurationError(
            f"{node.location}: {node.name!r} cannot be copied, so a crash could not take from it"
            f" what it remembers: {_culprit(node.operator)} ({shorten(str(error), ERROR_MAX)})."
            " Make that in a method, when it is needed, or give crash_test a function that makes"
            " the flow anew: crash_test(lambda folder: make_flow())"
        ) from error


def _culprit(operator: object) -> str:
    """What of an operator cannot be copied."""
    for name, value in getattr(operator, "__dict__", {}).items():
        try:
            copy.deepcopy(value)
        except Exception:
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            return f"{type(operator).__name__}.{name} is a {kind}"
    return f"{type(operator).__name__} refuses it"


@contextmanager
def _copyable() -> Iterator[None]:
    """Has ``copy`` copy what it usually cannot."""
    before = dict(copyreg.dispatch_table)
    copyreg.dispatch_table.update(_reductions())
    try:
        yield
    finally:
        copyreg.dispatch_table.clear()
        copyreg.dispatch_table.update(before)


def _reductions() -> Mapping[type, Any]:
    """How to copy objects of some classes: what to call for another one, or a name for the same."""
    locks: dict[type, Any] = {type(make()): lambda lock, make=make: (make, ()) for make in LOCKS}
    shared = (getattr(sys.modules.get(module), name, None) for module, name in SHARED)
    return locks | {kind: lambda one: "the same" for kind in shared if kind is not None}
