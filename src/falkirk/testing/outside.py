"""What the outside must have seen: what a run without failures shows, and nothing else."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from falkirk.core.times import ProcessorId
from falkirk.testing.logic import Items
from falkirk.testing.reference import Outputs, Reference
from falkirk.testing.world import Scenario, Violation, World


def check_outside(scenario: Scenario, world: World) -> None:
    """The outside saw what a run without failures shows, and all of it from one such run."""
    expected = Reference(scenario.flow, scenario.logics).run(scenario.inputs)
    shown = {
        p: {time: items for time, items in world.outputs.get(p, {}).items() if items}
        for p in expected
    }
    for p, times in expected.items():
        plain = {time: untagged(items) for time, items in shown[p].items()}
        wanted = {time: untagged(items) for time, items in times.items()}
        if p in world.tainted:
            check_at_least_once(p, plain, wanted)
        elif plain != wanted:
            time = next(t for t in [*wanted, *plain] if plain.get(t) != wanted.get(t))
            raise Violation(
                f"{p} showed {plain.get(time)} at {time}, a run without failures shows"
                f" {wanted.get(time)}"
            )
    exact = [p for p in expected if p not in world.tainted]
    if tag_counts(shown, exact) != tag_counts(expected, exact):
        raise Violation(f"outputs come from different executions of one event: {shown}")
    for p, epochs in scenario.inputs.items():
        if world.acknowledged.get(p, -1) < len(epochs) - 1:
            raise Violation(f"{p} has acknowledged {world.acknowledged.get(p)} only")


def check_at_least_once(
    p: ProcessorId, shown: Mapping[Any, Any], wanted: Mapping[Any, Any]
) -> None:
    """Every item of every time is there at least as often as it should be, and nothing else is."""
    for time in sorted({*wanted, *shown}):
        there, due = Counter(shown.get(time, ())), Counter(wanted.get(time, ()))
        if missing := due - there:
            raise Violation(f"{p} lost {sorted(missing)} at {time}: it showed {shown.get(time)}")
        if invented := there.keys() - due.keys():
            raise Violation(f"{p} showed {sorted(invented)} at {time}, which nobody ever shows")


def tag_counts(outputs: Outputs, processors: list[ProcessorId]) -> dict[str, int]:
    """How many tags each label occurs with: one for every execution of the event that tagged it."""
    tags: dict[str, set[int]] = {}
    for p in processors:
        for items in outputs[p].values():
            for label, _, tag in items:
                tags.setdefault(label, set()).add(tag)
    return {label: len(found) for label, found in tags.items()}


def untagged(items: Items) -> tuple[tuple[str, int], ...]:
    """Items without their tags, in order."""
    return tuple(sorted((label, value) for label, value, _ in items))
