"""Teeth: what the simulator notices when a rule is switched off.

Every rule has a switch that only tests reach (:class:`~falkirk.core.machine.rules.Rules`). A rule
that can be off without anybody noticing would be a rule without a test.
"""

from dataclasses import dataclass

from falkirk.testing.case import RANDOM_FLOWS, Case
from falkirk.testing.world import Violation


@dataclass(frozen=True, slots=True)
class Tooth:
    """A rule, and what it comes from: a constraint of §3.5 or a correctness trap."""

    rule: str
    origin: str
    sentence: str


TEETH: tuple[Tooth, ...] = (
    Tooth(
        "discarded_constraint",
        "§3.5, second",
        "What was sent and not logged lies in the receiver's frontier.",
    ),
    Tooth(
        "delivered_constraint",
        "§3.5, third",
        "What was processed is fixed by the sender's frontier.",
    ),
    Tooth(
        "notification_constraint",
        "§3.5, fourth to sixth",
        "Notifications that were delivered stay true.",
    ),
    Tooth(
        "announce_in_order",
        "trap 1",
        "A checkpoint counts only when it and every earlier one are durable.",
    ),
    Tooth("drop_by_cause", "trap 2", "A queued message is kept or dropped by its cause."),
    Tooth("resend_logged", "trap 2; §3.6, Q'(e)", "Logged messages are sent again."),
    Tooth(
        "finish_replay",
        "§3.6, §4.4",
        "A replay that is met by another's rollback goes on with what is left of it.",
    ),
    Tooth("count_future_sends", "trap 3", "Messages into the future are logged or counted."),
    Tooth("reissue_notifications", "trap 4", "Notification requests are state."),
    Tooth(
        "only_completed",
        "trap 5; §3.5, first",
        "No checkpoint of a time at which something can still arrive.",
    ),
    Tooth("rebuild_progress", "trap 6", "Progress is counted anew after a rollback."),
    Tooth("hold_suspects", "trap 6", "What leaves a suspected processor is held."),
    Tooth(
        "collect_within_watermark",
        "trap 7",
        "Nothing is collected that a rollback or a resend could still ask for.",
    ),
    Tooth("drop_late_work", "trap 8", "Late completions of work are dropped."),
    Tooth("retract_before_more", "trap 8", "Late writes of an earlier life are refused."),
    Tooth("one_content", "trap 9", "What is logged is what was delivered."),
    Tooth(
        "release_within_watermark",
        "trap 10",
        "An output is released only inside its own low-watermark.",
    ),
    Tooth(
        "announce_taken",
        "trap 10; §4.3",
        "An at-least-once output tells only of what the outside has taken.",
    ),
    Tooth(
        "record_input_epochs",
        "trap 11",
        "What makes up an input epoch is durable before it counts.",
    ),
    Tooth(
        "keep_pinned",
        "beyond the paper",
        "Nothing is collected or acknowledged outside what was pinned.",
    ),
    Tooth(
        "notify_at_joins",
        "beyond the paper",
        "A lattice processor is notified wherever times of its state meet.",
    ),
)


INSIDE = {
    "hold_suspects": "It says how little is undone: whoever has used what a suspect sent goes back"
    " with it when it has failed, so nothing wrong gets out.",
    "keep_pinned": "Who is to go back where nothing is kept is told so, and nothing is changed.",
    "notification_constraint": "Without it a message can come after the notification of its time;"
    " in the random flows those who may decide otherwise when asked again send empty messages.",
}
"""Why the outside may see nothing of some rules."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who noticed that a rule was off in one run."""

    seed: int
    outside: bool
    """The outside saw something that no run without failures shows."""
    inside: bool
    """An inner law was broken, or the engine stopped."""


def bite(rule: str, seed: int, flows: str = RANDOM_FLOWS, rules_off: bool = True) -> Verdict:
    """Runs one seed with a rule switched off, to the end if it can."""
    run = Case(seed, flows, (rule,) if rules_off else ()).simulation(strict=False)
    try:
        run.run(5_000)
    except Violation:
        return Verdict(seed, True, bool(run.complaints))
    except Exception:
        return Verdict(seed, False, True)
    return Verdict(seed, False, bool(run.complaints))


@dataclass
class Score:
    """How a rule did over many seeds."""

    tooth: Tooth
    seeds: int = 0
    first: int | None = None
    caught: int = 0
    first_outside: int | None = None
    outside: int = 0

    def add(self, verdict: Verdict) -> None:
        """Counts one run."""
        self.seeds += 1
        if verdict.outside or verdict.inside:
            self.caught += 1
            self.first = least(self.first, verdict.seed)
        if verdict.outside:
            self.outside += 1
            self.first_outside = least(self.first_outside, verdict.seed)

    def row(self) -> tuple[str, str, str, str, str, str]:
        """A row of the table."""
        return (
            self.tooth.origin,
            self.tooth.rule,
            show(self.first),
            f"{self.caught:,}",
            show(self.first_outside),
            f"{self.outside:,}",
        )


HEADINGS = ("from", "rule", "first seed", "caught", "first outside", "outside")


def least(left: int | None, right: int) -> int:
    """The smaller of two seeds, one of which may be missing."""
    return right if left is None else min(left, right)


def show(seed: int | None) -> str:
    """A seed, or that there was none."""
    return "never" if seed is None else f"{seed:,}"


def page(scores: list[Score], command: str) -> str:
    """The table as a page of the documentation."""
    seeds = scores[0].seeds if scores else 0
    lines = [
        "# Teeth",
        "",
        "A test that cannot fail proves nothing. Every rule that makes recovery correct can be",
        "switched off, from tests only, and then the [simulator](simulator.md) must notice. For",
        f"each rule this table says what {seeds:,} seeds found with that rule off and all others",
        "on.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for score in scores:
        origin, rule, *numbers = score.row()
        lines.append("| " + " | ".join([origin, f"`{rule}`", *numbers]) + " |")
    lines += [
        "",
        "*caught* counts the seeds in which anybody noticed: the outside, an inner check or the",
        "engine itself. *outside* counts those in which the outside saw something that no run",
        "without failures shows: an output lost, repeated or contradicted, or an input asked for",
        "again after it was acknowledged. Inner checks are stricter: they complain at the rollback",
        "that breaks a constraint, whether or not it does harm later.",
        "",
        *[
            f"- `{score.tooth.rule}` is seen from inside only. {INSIDE[score.tooth.rule]}"
            for score in scores
            if score.tooth.rule in INSIDE and not score.outside
        ],
        "",
        "What the rules say:",
        "",
        *[f"- `{score.tooth.rule}`: {score.tooth.sentence}" for score in scores],
        "",
        "Written by:",
        "",
        "```",
        command,
        "```",
        "",
    ]
    return "\n".join(lines)
