"""Making a user's flow for each life of a process, so that none remembers another's."""

from collections.abc import Callable
from pathlib import Path

from falkirk.core.errors import ConfigurationError
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.builder import Dataflow
from falkirk.testing.copying import afresh

Made = Dataflow | Callable[[Path], Dataflow]
"""A flow, or a function that makes it in a folder."""


class Making:
    """Gives the flow as a process that has just been started has it.

    A function is called anew, with the folder of everything that outlives the process. A flow that
    is there already is copied: its operators, but not its sources and sinks.
    """

    def __init__(self, flow: Made) -> None:
        """Refuses what is no flow."""
        if not isinstance(flow, Dataflow) and not callable(flow):
            raise ConfigurationError(
                f"crash_test takes a flow, or a function of a folder that makes one; not {flow!r}"
            )
        self.flow = flow
        self._built = flow.build() if isinstance(flow, Dataflow) else None

    @property
    def anew(self) -> bool:
        """Whether everything is made anew, sinks too."""
        return self._built is None

    def __call__(self, folder: Path) -> Blueprint:
        """The flow, in ``folder`` if it is made there."""
        if self._built is not None:
            return afresh(self._built)
        assert not isinstance(self.flow, Dataflow)
        folder.mkdir(parents=True, exist_ok=True)
        flow = self.flow(folder)
        if not isinstance(flow, Dataflow):
            raise ConfigurationError(
                f"crash_test was given a function that makes a flow, but it returned {flow!r}"
            )
        return flow.build()
