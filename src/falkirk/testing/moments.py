"""The moments at which failures meet a run: counted, so that one sees which of them are rare."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from falkirk.core.machine.flow import Flow
from falkirk.core.machine.state import State
from falkirk.core.times import ProcessorId
from falkirk.testing.splitting import regions
from falkirk.testing.unwinding import depth_of, is_part


class Before:
    """How things stood when processors failed; ``moments`` then says what that has met."""

    def __init__(self, state: State) -> None:
        """Nobody has been rolled back yet."""
        self.state = state
        self.replaying: dict[ProcessorId, Iterable[Any]] = {}
        self.saving: set[ProcessorId] = set()
        for p, standing in state.standing.items():
            if standing.replaying:
                self.replaying[p] = standing.replaying
            if standing.tickets:
                self.saving.add(p)

    def at_all(self) -> Iterator[str]:
        """What a failure meets whoever it is that fails: everybody, when it is a crash."""
        if any(self.state.markers.values()):
            yield "marker under way"
        if self.saving and any(
            not self.saving.isdisjoint(region) and not self.saving.issuperset(region)
            for region in regions(self.state.flow)
        ):
            yield "snapshot durable in part"

    def moments(
        self, failed: frozenset[ProcessorId], frontiers: Mapping[ProcessorId, Any]
    ) -> Iterator[str]:
        """What the failure of ``failed`` has met, which took everybody to ``frontiers``."""
        yield from self.at_all()
        flow = self.state.flow
        moved = {p: f for p, f in frontiers.items() if p in failed or not f.is_top}
        if not self.replaying.keys().isdisjoint(failed):
            yield "failed while replaying"
        elif self.replaying:
            yield "failed while another replays"
        for p, times in self.replaying.items():
            if p in moved and p not in failed and any(time in moved[p] for time in times):
                yield "put back while replaying"
            if p not in moved and any(e.target in moved for e in flow.graph.outputs(p)):
                yield "receiver put back while replaying"
        if not self.saving.isdisjoint(moved):
            yield "put back while saving"
        depths = [depth_of(flow, p) for p, f in moved.items() if inside_loop(flow, p, f)]
        if depths:
            yield "back to a round" if max(depths) == 2 else "back to a round of an inner loop"


def inside_loop(flow: Flow, p: ProcessorId, frontier: Any) -> bool:
    """Whether ``p`` is in a loop, and ``frontier`` ends within one of its epochs."""
    return depth_of(flow, p) > 1 and is_part(frontier)
