"""The flow as the machine sees it: a graph with a role and a policy for every processor."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from falkirk.core.bridges import Custom
from falkirk.core.domain import Domain, Sequence, Structured
from falkirk.core.errors import DefinitionError
from falkirk.core.graph import Edge, Graph
from falkirk.core.machine.summary import Summary, edge_summary, path_summaries
from falkirk.core.policy import Policy, Regime
from falkirk.core.projection import LoopProjection
from falkirk.core.times import EdgeId, ProcessorId


class Role(Enum):
    """Where a processor meets the outside."""

    INPUT = "input"
    INNER = "inner"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Processor:
    """One processor of a flow.

    ``opaque`` means that its state is not kept by time: it is asked for a checkpoint of a frontier
    and told to restore one (§4.1, "checkpoint callbacks"). ``lattice`` means that it is notified at
    every join of times at which it keeps state: what came at (0, 5) and at (1, 2) meets at (1, 5),
    where perhaps no message ever comes.
    """

    name: ProcessorId
    domain: Domain
    policy: Policy
    role: Role = Role.INNER
    opaque: bool = False
    lattice: bool = False


@dataclass(frozen=True, slots=True)
class Latest:
    """A bridge that hands the versions of a slow output to a version input of the fast side.

    The epochs of ``versions`` follow those of ``fast``. See :mod:`falkirk.core.machine.latest`.
    """

    slow: ProcessorId
    versions: ProcessorId
    fast: ProcessorId


class Flow:
    """A validated flow. ``graph`` is what progress follows, ``recovery`` what the solver sees.

    They differ where a policy changes what may be promised: an edge out of an at-least-once
    processor fixes everything, because its receivers never roll back on its account.
    """

    def __init__(
        self,
        processors: Iterable[Processor],
        edges: Iterable[Edge],
        latest: Iterable[Latest] = (),
    ) -> None:
        """Checks that roles, policies and domains go together."""
        self.latest = {bridge.slow: bridge for bridge in latest}
        self.processors = {processor.name: processor for processor in processors}
        domains = {name: processor.domain for name, processor in self.processors.items()}
        self.graph = Graph(domains, edges)
        self.summaries = path_summaries(self.graph)
        self.edge_summaries: dict[EdgeId, Summary] = {
            edge.name: edge_summary(edge.projection)
            for edge in self.graph.edges.values()
            if isinstance(edge.projection, LoopProjection)
        }
        self.recovery = self.graph
        if any(processor.policy.tainted for processor in self.processors.values()):
            self.recovery = Graph(domains, map(self._promised, self.graph.edges.values()))
        self.numbered_ones = {
            p for p, each in self.processors.items() if isinstance(each.domain, Sequence)
        }
        self.anywhere = self._proved({p for p in self.processors if self._keeps_nothing(p)})
        self.output_ones = {p for p, each in self.processors.items() if each.role is Role.OUTPUT}
        self.prompt_ones = {
            p for p in self.output_ones - {*self.latest} if self.processors[p].policy.tainted
        }
        self.scale = self._scales()
        self.clocked = [p for p in self.processors if self._clocked(p)]
        self.timed = [p for p in self.processors if self._timed(p)]
        for processor in self.processors.values():
            self._check(processor)
        for bridge in self.latest.values():
            self._check_latest(bridge)

    def _promised(self, edge: Edge) -> Edge:
        if not self.processors[edge.source].policy.tainted:
            return edge
        target = self.processors[edge.target].domain
        everything = Custom(lambda _: target.edge_top, lambda _: target.edge_empty)
        return Edge(edge.name, edge.source, edge.target, _Advancing(everything))

    def _scales(self) -> dict[ProcessorId, ProcessorId]:
        """Which processors have the same epochs: those that edges without a bridge connect.

        Each is given the first one of its kind.
        """
        scale = {p: p for p in self.processors}
        for edge in self.graph.edges.values():
            if not edge.projection.recorded:
                joined, other = sorted((scale[edge.source], scale[edge.target]))
                scale = {p: joined if first == other else first for p, first in scale.items()}
        return scale

    def _clocked(self, p: ProcessorId) -> bool:
        """Who saves epochs by the clock; not who forwards them to sequence numbers.

        Those count, for a marker has to be sent before what follows it.
        """
        recorded = any(edge.projection.recorded for edge in self.graph.outputs(p))
        return self.processors[p].policy.clocked and not self.numbered(p) and not recorded

    def _timed(self, p: ProcessorId) -> bool:
        """Whether time that passes can make a checkpoint due; of rounds of a loop it always can."""
        domain = self.graph.domains[p]
        looped = isinstance(domain, Structured) and domain.depth > 1
        return looped or self.processors[p].policy.clocked

    def _check(self, processor: Processor) -> None:
        name, inputs, outputs = (
            processor.name,
            self.graph.inputs(processor.name),
            self.graph.outputs(processor.name),
        )
        if processor.role is Role.INPUT and (
            inputs or not isinstance(processor.domain, Structured)
        ):
            raise DefinitionError(f"the input {name!r} has epochs of its own and no input edges")
        if processor.role is not Role.INPUT and not inputs:
            raise DefinitionError(f"{name!r} has no input edges: make it an input")
        if processor.opaque and processor.policy.regime not in (Regime.LAZY, Regime.EAGER):
            raise DefinitionError(
                f"{name!r} keeps state of its own, so its policy must save it: lazy or eager,"
                f" not {processor.policy.regime.value}"
            )
        if processor.lattice and (
            processor.policy.stateless or not isinstance(processor.domain, Structured)
        ):
            raise DefinitionError(
                f"{name!r} is notified where times meet, so it keeps state by epochs and rounds"
            )
        snapshots = processor.policy.regime is Regime.SNAPSHOT
        if snapshots and not isinstance(processor.domain, Sequence):
            raise DefinitionError(
                f"{name!r} takes snapshots at any moment, so its times are sequence numbers"
            )
        if processor.role is Role.OUTPUT and outputs:
            raise DefinitionError(f"the output {name!r} sends to the outside only")
        for edge in processor.policy.log:
            if edge not in {e.name for e in outputs}:
                raise DefinitionError(
                    f"{name!r} cannot log {edge!r}: it is not an output edge of it"
                )

    def _check_latest(self, bridge: Latest) -> None:
        ends = (
            (bridge.slow, Role.OUTPUT),
            (bridge.versions, Role.INPUT),
            (bridge.fast, Role.INPUT),
        )
        for name, role in ends:
            if name not in self.processors or self.processors[name].role is not role:
                raise DefinitionError(f"a latest bridge needs {name!r} to be an {role.value}")
        if self.processors[bridge.versions].policy.regime is not Regime.BATCH:
            raise DefinitionError(
                f"the version input {bridge.versions!r} logs what it ingests: batch"
            )

    def windows(self) -> list[EdgeId]:
        """The edges that lead from sequence numbers to epochs: their senders close the epochs."""
        return [
            edge.name
            for edge in self.graph.edges.values()
            if edge.projection.recorded
            and isinstance(self.processors[edge.target].domain, Structured)
        ]

    def marked(self) -> list[EdgeId]:
        """The edges to sequence numbers on which checkpoints have to meet: what is sent there is
        discarded, and the two ends do not take snapshots together.
        """
        found = []
        for edge in self.graph.edges.values():
            source, target = (
                self.processors[edge.source].policy,
                self.processors[edge.target].policy,
            )
            together = source.regime is Regime.SNAPSHOT and (
                (source.regime, source.region) == (target.regime, target.region)
            )
            if self.numbered(edge.target) and not source.logs(edge.name) and not together:
                found.append(edge.name)
        return found

    def restores_anywhere(self, name: ProcessorId) -> bool:
        """Whether ``name`` needs no checkpoint at all: it keeps nothing and logs nothing (§3.4).

        One that leads to nobody who saves does announce what it has completed, for nobody
        downstream proves it: a leaf, say, or a loop without a way out.
        """
        return name in self.anywhere

    def _proved(self, stateless: set[ProcessorId]) -> set[ProcessorId]:
        """Those of the ``stateless`` from whom an edge leads, in the end, to somebody else."""
        found: set[ProcessorId] = set()
        front = [p for p in self.processors if p not in stateless]
        while front:
            before = {edge.source for edge in self.graph.inputs(front.pop())}
            front += before & stateless - found
            found |= before & stateless
        return found

    def _keeps_nothing(self, name: ProcessorId) -> bool:
        processor, outputs = self.processors[name], self.graph.outputs(name)
        return (
            processor.role is Role.INNER
            and processor.policy.regime is Regime.EPHEMERAL
            and not processor.policy.log
            and not any(edge.projection.recorded for edge in outputs)
        )

    def numbered(self, name: ProcessorId) -> bool:
        """Whether the times of ``name`` are sequence numbers."""
        return name in self.numbered_ones


class _Advancing(Custom):
    """A custom projection on an edge whose cycle is known to advance from the original graph."""

    advances = True

    def __init__(self, given: Custom) -> None:
        super().__init__(given.phi_of, given.image_of, given.adjoint_of)


Batch = Any
"""An opaque batch: the machine never looks inside."""
