"""Logs in JSON, one object a line: what a run does, and whatever else is logged."""

import json
import logging
from datetime import UTC, datetime
from typing import Any, TextIO

from falkirk.runtime.listening import Checkpointed, Listener, RollbackNotice, Taken, Tidied
from falkirk.runtime.plain import plain
from falkirk.runtime.progress import Progress

log = logging.getLogger("falkirk.flow")

FIELD = "falkirk_event"
"""The attribute of a log record that holds an event's fields."""


class JsonFormatter(logging.Formatter):
    """One JSON object a line: when, how grave, who, what; and the fields of an event."""

    def format(self, record: logging.LogRecord) -> str:
        """The line for ``record``."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, FIELD, {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class LogListener(Listener):
    """Logs what happens, to the logger ``falkirk.flow``, with the event's fields beside the words.

    Recoveries are warnings, the beginning and the end of a run information, all else is for
    debugging.
    """

    def started(self, flow: str) -> None:
        """A run has begun."""
        self.flow = flow
        self._log(logging.INFO, f"{flow} has begun", "started")

    def ended(self, error: Exception | None) -> None:
        """The run is over."""
        if error is None:
            self._log(logging.INFO, f"{self.flow} has ended", "ended")
        else:
            words = f"{type(error).__name__}: {error}"
            self._log(logging.ERROR, f"{self.flow} was stopped", "ended", error=words)

    def progressed(self, progress: Progress) -> None:
        """How the run stands."""
        if log.isEnabledFor(logging.DEBUG):
            self._log(logging.DEBUG, "progress", "progressed", progress=progress.to_json())

    def checkpointed(self, checkpoint: Checkpointed) -> None:
        """A checkpoint is durable."""
        words = f"{checkpoint.processor} has saved {checkpoint.frontier!r}"
        self._log(logging.DEBUG, words, "checkpointed", **plain(checkpoint))

    def rolled_back(self, rollback: RollbackNotice) -> None:
        """Some processors have gone back."""
        words = f"{len(rollback.undone)} processors go back: {rollback.cause}"
        fields = plain(rollback) | {"kind": rollback.kind}
        fields["reasons"] = {
            p: [str(each.because) for each in violations]
            for p, violations in rollback.reasons.items()
        }
        level = logging.INFO if rollback.kind == "restart" else logging.WARNING
        self._log(level, words, "rolled_back", **(fields | {"at_time": fields.pop("at")}))

    def caught_up(self, rollback: RollbackNotice, seconds: float) -> None:
        """All who went back are where they were before."""
        words = f"all is as before recovery {rollback.number}"
        self._log(logging.INFO, words, "caught_up", number=rollback.number, seconds=seconds)

    def tidied(self, tidied: Tidied) -> None:
        """Old times are out of the store."""
        self._log(logging.DEBUG, "the store was tidied", "tidied", **plain(tidied))

    def taken(self, taken: Taken) -> None:
        """The outside has taken an output."""
        words = f"the outside has taken {taken.time} of {taken.processor}"
        self._log(logging.DEBUG, words, "taken", **plain(taken))

    def _log(self, level: int, words: str, event: str, **fields: Any) -> None:
        log.log(level, "%s", words, extra={FIELD: {"event": event, "flow": self.flow, **fields}})


def log_as_json(level: int = logging.INFO, stream: TextIO | None = None) -> logging.Handler:
    """Has everything logged as JSON on ``stream``, standard error by default.

    ``level`` is that of our own loggers; of others we only want what matters.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    logging.getLogger("falkirk").setLevel(level)
    return handler
