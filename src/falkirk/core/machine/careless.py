"""What a system without one of the rules would report. With all rules on it is the truth."""

from dataclasses import replace

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.machine.rules import ALL_RULES
from falkirk.core.machine.state import State
from falkirk.core.times import ProcessorId


def understated(state: State, p: ProcessorId, metadata: Checkpoint) -> Checkpoint:
    """Ξ(p, f) without what a rule that is switched off would have made it say."""
    rules, domain, ledger = state.rules, state.flow.graph.domains[p], state.ledgers[p]
    if rules is ALL_RULES or rules == ALL_RULES:
        return metadata
    if not rules.delivered_constraint:
        metadata = replace(metadata, processed=dict.fromkeys(metadata.processed, domain.edge_empty))
    if not rules.discarded_constraint:
        nothing = {e: ledger.targets[e].edge_empty for e in metadata.discarded}
        metadata = replace(metadata, discarded=nothing)
    if not rules.notification_constraint:
        metadata = replace(metadata, notified=domain.empty)
    if not rules.count_future_sends:
        present = {
            e.name: metadata.discarded[e.name]
            if e.projection.recorded
            else metadata.discarded[e.name] & e.projection.image(metadata.frontier)
            for e in ledger.outputs
        }
        metadata = replace(metadata, discarded=present)
    return metadata
