"""A run that can be asked for again: everything that decides it, in one line of text."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module

from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.core.times import ProcessorId
from falkirk.testing.decisions import Decision, Scripted, read_script, write_script
from falkirk.testing.faults import Faults
from falkirk.testing.simulator import Simulation
from falkirk.testing.world import Scenario

RANDOM_FLOWS = "falkirk.testing.scenarios:random_scenario"
Batches = dict[ProcessorId, list[int]]


@dataclass(frozen=True)
class Case:
    """A seed; and, once a run was shrunk, a schedule of its own and less input.

    ``flows`` names the function that makes a scenario of a seed, as ``module:function``.
    """

    seed: int
    flows: str = RANDOM_FLOWS
    rules_off: tuple[str, ...] = ()
    script: tuple[Decision, ...] | None = None
    batches: str = ""

    def scenario(self) -> Scenario:
        """The flow and its inputs."""
        scenario = find(self.flows)(self.seed)
        return scenario.cut(read_batches(self.batches)) if self.batches else scenario

    def simulation(self, strict: bool = True) -> Simulation:
        """The run, about to start."""
        return Simulation(
            self.scenario(),
            self.seed,
            Faults(),
            rules_without(self.rules_off),
            decisions=None if self.script is None else Scripted(self.script),
            strict=strict,
        )

    def command(self) -> str:
        """The command that replays this run."""
        words = ["python", "-m", "falkirk.testing.simulate", "--seed", str(self.seed)]
        if self.flows != RANDOM_FLOWS:
            words += ["--flows", self.flows]
        for name in self.rules_off:
            words += ["--rules-off", name]
        if self.batches:
            words += ["--batches", self.batches]
        if self.script is not None:
            words += ["--script", write_script(self.script)]
        return shlex.join([*words, "--transcript"])

    def written(self, decisions: list[Decision]) -> "Case":
        """This case with its decisions written down."""
        return replace(self, script=tuple(decisions))


def find(flows: str) -> Callable[[int], Scenario]:
    """The function that ``module:function`` names."""
    module, _, name = flows.partition(":")
    made: Callable[[int], Scenario] = getattr(import_module(module), name)
    return made


def rules_without(names: tuple[str, ...]) -> Rules:
    """All rules but some."""
    return Rules(**dict.fromkeys(names, False)) if names else ALL_RULES


def write_batches(batches: Batches) -> str:
    """How many batches each epoch of each input has, as text.

    >>> write_batches({"in0": [1, 0], "in1": []})
    'in0=1,0;in1='
    """
    return ";".join(f"{p}={','.join(map(str, counts))}" for p, counts in batches.items())


def read_batches(text: str) -> Batches:
    """What :func:`write_batches` wrote.

    >>> read_batches("in0=1,0;in1=")
    {'in0': [1, 0], 'in1': []}
    """
    parts = [part.partition("=") for part in text.split(";")]
    return {ProcessorId(p): [int(n) for n in counts.split(",") if n] for p, _, counts in parts}


def read_schedule(text: str | None) -> tuple[Decision, ...] | None:
    """A schedule from the command line."""
    return None if text is None else tuple(read_script(text))
