"""The rules that make recovery correct, each of which tests can switch off.

Nobody else does: the default has all of them on, and no public interface passes another value. A
rule that can be switched off without the simulator noticing would be a rule without a test.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """The constraints of §3.5 and the correctness traps, by name."""

    discarded_constraint: bool = True
    """D̄(e, f(p)) ⊆ f(dst(e))."""
    delivered_constraint: bool = True
    """M̄(d, f(p)) ⊆ φ(d)(f(src(d)))."""
    notification_constraint: bool = True
    """The three constraints on notification frontiers."""
    only_completed: bool = True
    """No checkpoint while a message or notification inside it can still arrive (§3.5, first)."""
    announce_in_order: bool = True
    """A checkpoint counts only when it and every earlier one of its processor are durable."""
    drop_by_cause: bool = True
    """A queued message is kept by the time of the event that caused it at the sender."""
    resend_logged: bool = True
    """Q'(e): what is logged and lies outside the receiver's frontier is sent again."""
    count_future_sends: bool = True
    """A message sent beyond the image of its cause is logged or counted among the discarded."""
    reissue_notifications: bool = True
    """Requests of events that are kept, not delivered in what is kept, are issued again."""
    rebuild_progress: bool = True
    """Progress is counted anew before anyone resumes."""
    hold_suspects: bool = True
    """What comes from a suspected processor, or goes there, is held until one knows better."""
    collect_within_watermark: bool = True
    """Nothing is collected that a rollback or a resend could still ask for."""
    keep_pinned: bool = True
    """Nothing is collected or acknowledged outside what was pinned."""
    drop_late_work: bool = True
    """Completions of work begun before a rollback are dropped."""
    finish_replay: bool = True
    """A replay that is met by another rollback goes on with what is left of it."""
    retract_before_more: bool = True
    """A rolled-back timeline is forgotten durably, and its late writes are refused."""
    one_content: bool = True
    """A message has one content: what is logged is what was delivered."""
    release_within_watermark: bool = True
    """An output is released only inside its own low-watermark."""
    announce_taken: bool = True
    """An at-least-once output tells the monitor only of what the outside has taken."""
    record_input_epochs: bool = True
    """What makes up an input epoch is durable before a checkpoint that includes it counts."""
    notify_at_joins: bool = True
    """A lattice processor is notified wherever times at which it keeps state meet."""


ALL_RULES = Rules()
