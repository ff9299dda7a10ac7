"""``fk.run``, which loads Spark when it is called and not before."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from falkirk.dataflow import Dataflow

if TYPE_CHECKING:
    from falkirk.runtime.listening import Listener
    from falkirk.runtime.options import Options
    from falkirk.runtime.report import Report
    from falkirk.store import Store


def run(
    flow: Dataflow,
    store: "str | Path | Store",
    spark: Any = None,
    *,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
    options: "Options | None" = None,
    listeners: "Iterable[Listener]" = (),
) -> "Report":
    """Runs ``flow`` on Spark until its inputs end or the process is told to stop.

    ``store`` is a folder or a URL; a second run on it goes on where the first one stopped. Without
    ``spark`` a session is started on ``master`` with ``settings``, and ended afterwards.
    ``listeners`` are told how the run goes.
    """
    from falkirk.runtime.run import run as start

    return start(
        flow,
        store,
        spark,
        master=master,
        settings=settings,
        options=options,
        listeners=listeners,
    )


def read_state(store: str | Path, which: str, spark: Any, label: str | None = None) -> Any:
    """What a processor has saved, as a Spark DataFrame; None if it has saved no rows.

    ``which`` is ``"counts"`` for its newest checkpoint, or ``"counts@4"`` for an older time that
    was not folded yet, or ``"counts@NAME"`` for that of a pin. State is kept by time: the column
    ``_time`` says when a row came. With a ``label`` it is one of several kinds of state. The store
    may be in use.
    """
    from falkirk.inspection.state import read_frame

    return read_frame(str(store), which, spark, label)
