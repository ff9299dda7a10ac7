"""What can be set for a run, apart from the flow and its policies."""

from dataclasses import dataclass

from falkirk.core.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Options:
    """How a flow is driven.

    ``epochs_ahead`` is how many epochs of an input may be under way at once, ``concurrent_jobs``
    how many events. A source that has nothing new is asked again after ``poll_seconds``; an idle
    flow asks a cheap one more often, unless that is more than 10 ms. ``small_bytes_max`` is how
    large a batch may be to rest on the driver. Rows on executors that take ``columns_bytes_min``
    in a file, or more, are read from there once they are durable. State that takes
    ``divided_bytes_min`` on the disk, or more, is merged piece by piece. With
    ``monitor="external"`` what cannot be taken back waits for a ``falkirk monitor`` to agree.
    Listeners hear how the run stands every ``progress_seconds``.
    """

    concurrent_jobs: int = 4
    epochs_ahead: int = 4
    poll_seconds: float = 0.01
    tick_seconds: float = 0.05
    waiting_writes_max: int = 64
    small_bytes_max: int = 32 * 1024 * 1024
    columns_bytes_min: int = 4 * 1024 * 1024
    divided_bytes_min: int = 128 * 1024
    monitor: str = "embedded"
    progress_seconds: float = 0.5

    def __post_init__(self) -> None:
        """Refuses what would stand still."""
        for name in ("concurrent_jobs", "epochs_ahead", "waiting_writes_max"):
            if getattr(self, name) < 1:
                raise ConfigurationError(
                    f"{name} is {getattr(self, name)}: nothing would ever run; use 1 or more"
                )
        if self.monitor not in ("embedded", "external"):
            raise ConfigurationError(
                f"monitor is {self.monitor!r}: it is 'embedded', or 'external' to wait for others"
            )
