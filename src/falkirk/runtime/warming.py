"""Warms new executors up, where somebody waits for answers.

The first task on a fresh executor loads Spark's classes and compiles: more than a second of a core,
fifty times what the same task takes later. If it is the task of a query, a user waits for that. So
it had better be a task that nobody waits for. Which executor runs it is up to Spark; a new one is
free.
"""

import logging
from threading import Thread
from typing import Any

log = logging.getLogger("falkirk.warming")

TASKS_MAX = 64
"""Among more executors than that, a new one gets few of the queries."""


def warm_beside(session: Any, executors: int) -> None:
    """Has a job run on a thread of its own; if it fails, the next task does its work."""

    def warm() -> None:
        try:
            warm_up(session, min(executors, TASKS_MAX))
        except Exception as error:
            log.debug("new executors were not warmed up: %s", error)

    Thread(target=warm, name="falkirk-warming", daemon=True).start()


def warm_up(session: Any, tasks: int) -> None:
    """One job of ``tasks`` tasks: each computes a row and sends it to the driver, as flows do."""
    numbers = session.range(0, tasks, 1, tasks)
    numbers.selectExpr("id", "CAST(id AS STRING) AS key", "id % 7 AS n").where("n < 7").toArrow()
