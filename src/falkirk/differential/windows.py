"""Windows of the world's time: columns of rows, so that windows change as rows come and go."""

from falkirk.dataflow.location import refusal
from falkirk.differential.collection import Collection


def tumbling(
    rows: Collection, moment: str, seconds: int, *, column: str = "window", name: str | None = None
) -> Collection:
    """The rows with the first moment of the window that each falls into, as a TIMESTAMP.

    ``moment`` is an SQL expression; windows have so many whole ``seconds`` and follow one another.
    """
    if seconds < 1:
        raise refusal(f"a window has at least one second, not {seconds}")
    second = f"unix_seconds({moment})"
    begin = f"timestamp_seconds({second} - pmod({second}, {seconds})) AS {column}"
    return rows.map("*", begin, name=name)


def sliding(
    rows: Collection,
    moment: str,
    seconds: int,
    every: int,
    *,
    column: str = "window",
    name: str | None = None,
) -> Collection:
    """The rows with the first moment of each window that they fall into, once for each.

    A window of so many ``seconds`` begins ``every`` so many; a row falls into several.
    """
    if not 1 <= every <= seconds:
        raise refusal(f"windows of {seconds} s cannot begin every {every} s: rows would fall out")
    second = f"unix_seconds({moment})"
    last = f"{second} - pmod({second}, {every})"
    first = f"{last} - {(seconds - 1) // every * every}"
    starts = f"filter(sequence({first}, {last}, {every}), s -> s + {seconds} > {second})"
    return rows.map(
        "*", f"explode(transform({starts}, s -> timestamp_seconds(s))) AS {column}", name=name
    )


def campaign_views(
    events: Collection, campaigns: Collection, seconds: int = 10, *, name: str | None = None
) -> Collection:
    """The Yahoo streaming benchmark: how many views a campaign had in each window.

    ``events`` have ``ad_id``, ``event_type`` and ``event_time``; ``campaigns`` say to which
    ``campaign_id`` an ``ad_id`` belongs. Both may change: an advertisement that moves to another
    campaign takes all its views along.
    """
    views = events.filter("event_type = 'view'").map("ad_id", "event_time")
    placed = tumbling(views.join(campaigns, "ad_id"), "event_time", seconds)
    return placed.group_by("campaign_id", "window").count("views", name=name)
