"""Offering one time to a sink: all of its rows as one batch, or as one batch for each part."""

from collections.abc import Sequence
from typing import Any

from falkirk.core.machine.events import Release
from falkirk.dataflow.connecting import JointSink
from falkirk.dataflow.operators.stage import part_label
from falkirk.runtime.batch import Batch
from falkirk.runtime.materialise import Materialiser


def offer(sink: Any, effect: Release, materialiser: Materialiser) -> None:
    """Writes what is released, if there is anything.

    Batches are made anew for every attempt: rows that were cached may have to be read back by now.
    """
    if not effect.batches:
        return
    if isinstance(sink, JointSink):
        parts = {}
        for port, part in enumerate(sink.parts):
            found = [batch for batch in effect.batches if batch.label == part_label(port)]
            if found:
                parts[part] = united(found, materialiser)
        sink.write_together(effect.processor, effect.time, parts)
    else:
        sink.write(effect.processor, effect.time, united(effect.batches, materialiser))


def united(batches: Sequence[Batch], materialiser: Materialiser) -> Batch:
    """All rows of several batches."""
    contents = [batch.content for batch in batches]
    content = contents[0] if len(contents) == 1 else materialiser.union(contents)
    return Batch(content, materialiser)
