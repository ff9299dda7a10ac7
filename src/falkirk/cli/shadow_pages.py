"""What ``falkirk shadow`` says: a fork, a comparison and a promotion on a page."""

from dataclasses import asdict
from typing import Any

from falkirk.cli.page import BAD, FAINT, GOOD, ODD, Page, as_json, faint, strong

SPANS_MAX = 10
"""How many epochs that differ are shown; JSON has them all."""


def say_prospect(found: Any, wants_json: bool, made: bool) -> None:
    """Shows what a fork keeps and does again."""
    if wants_json:
        as_json({**asdict(found), "made": made})
        return
    with Page() as page:
        page.title(f"A shadow of {found.flow}", f"{found.live} → {found.shadow}")
        page.space()
        page.table(
            ("processor", "", "because"),
            [
                (strong(each.processor), fork_words(each), faint(each.because))
                for each in found.parts
            ],
        )
        for name in found.removed:
            page.line((name, "bold"), "  is gone")
        page.heading("Inputs")
        for each in found.inputs:
            page.line((each.input, "bold"), f"  {reading_words(each)}")
        if found.resent:
            page.heading("Sent again from logs")
            page.line(", ".join(found.resent))
        page.heading("Outputs")
        for each in found.outputs:
            beside = f"compared with {each.live}" if each.live else "no folder to compare it with"
            how = "recorded" if each.recorded else "written by the flow's own sink"
            page.line((each.output, "bold"), f"  {how}, ", (beside, FAINT))
        page.space()
        page.line(("made", GOOD) if made else ("nothing was made", FAINT), indent=0)


def fork_words(part: Any) -> Any:
    """What becomes of a processor, in a few words."""
    from rich.text import Text

    if part.again:
        return Text("starts from nothing", ODD)
    if part.keeps.words == "everything":
        return Text("keeps nothing between times", FAINT)
    return Text(f"kept up to {part.keeps.words}", GOOD)


def reading_words(reading: Any) -> str:
    """Where an input begins, in a few words."""
    if reading.how == "own":
        return "is not the live flow's: it is read from its start, in epochs of its own"
    if reading.how == "on":
        after = "from the start" if reading.after == "nothing" else f"after {reading.after}"
        return f"goes on {after}, epoch by epoch as the live flow does"
    if not reading.joined:
        return "is read again from the start"
    return (
        f"is read again from the start; epochs 0 to {reading.joined} as one, for the live store no"
        " longer knows where each ended"
    )


def say_comparison(found: Any) -> None:
    """Shows what differs."""
    from falkirk.inspection.words import several

    with Page() as page:
        page.title(f"{found.flow} beside its shadow", f"{found.live}  {found.shadow}")
        for each in found.outputs:
            page.heading(f"{each.output} {each.part}".strip())
            if not each.comparable or each.last is None or each.first > each.last:
                page.line((each.why, ODD))
                continue
            same = not each.spans
            total = f"epochs {each.first} to {each.last}, {several(each.shadow_rows, 'row')}"
            page.line(("equal" if same else "differs", GOOD if same else BAD), f"  {total}")
            for span in each.spans[:SPANS_MAX]:
                when = (
                    f"epoch {span.last}"
                    if span.first == span.last
                    else (f"epochs {span.first} to {span.last} together")
                )
                rows = span.rows
                page.line(
                    (when, "bold"),
                    f"  {several(rows.only_live, 'row')} of {rows.live_rows} only live,"
                    f" {several(rows.only_shadow, 'row')} of {rows.shadow_rows} only in the shadow",
                    indent=4,
                )
                for sign, some in (("-", rows.live_sample), ("+", rows.shadow_sample)):
                    for row in some:
                        page.line((f"{sign} {row}", FAINT), indent=6)
            if (more := len(each.spans) - SPANS_MAX) > 0:
                page.line((f"and {more} more, up to epoch {each.spans[-1].last}", FAINT), indent=4)


def say_promotion(found: Any, wants_json: bool, done: bool) -> None:
    """Shows what a promotion does."""
    if wants_json:
        as_json({**asdict(found), "done": done})
        return
    with Page() as page:
        page.title(f"Promote the shadow of {found.flow}", f"{found.shadow} → {found.live}")
        page.line(f"the live store becomes {found.aside}")
        page.heading("Outputs")
        for each in found.outputs:
            kept = f"up to epoch {each.shown}" if each.shown >= 0 else "nothing"
            page.line((each.output, "bold"), f"  {kept} as the live flow has shown it")
            if each.recorded > each.shown:
                span = f"epoch {each.shown + 1} to {each.recorded}"
                page.line(f"{span} as the shadow has recorded it", indent=4)
