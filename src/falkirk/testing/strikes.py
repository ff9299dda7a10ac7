"""When the driver crashes and when processors fail, in terms of what the driver hears of.

A seed says how far into a run something is to happen. The run in peace has heard of one thing after
the other, and what a run hears first says which of these are still to come for it: the strike falls
on one of them. So the same seed strikes at the same logical moment, whatever a step's number is.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from falkirk.core.times import ProcessorId
from falkirk.testing.heard import Heard, What

PACES = (1, 2, 4)
"""How many rounds of the driver's the store may wait before it writes."""


@dataclass(frozen=True, slots=True)
class Strike:
    """Something that happens in one run of a trial, runs being counted from zero.

    ``place`` is how far it is into what is still to come, from 0 up to 1. The driver crashes, or
    those in ``lost`` fail: before the driver hears of something, or just ``after``. With
    ``written`` that is a time which the sink of one of these outputs has taken.
    """

    run: int
    place: float
    after: bool = False
    lost: frozenset[ProcessorId] = frozenset()
    written: frozenset[ProcessorId] = frozenset()

    @property
    def who(self) -> str:
        """To whom it happens."""
        return ", ".join(repr(str(p)) for p in sorted(self.lost)) or "the driver"

    def fits(self, heard: Heard) -> bool:
        """Whether it may happen there."""
        taken = heard.what is What.TAKEN and heard.processor in self.written
        return taken or not self.written

    def told(self, heard: Heard) -> str:
        """What has happened, and at which moment."""
        if self.lost:
            what = f"{self.who} failed as soon as the driver knew"
        else:
            what = f"the driver crashed {'as soon as' if self.after else 'before'} it knew"
        return f"run {self.run + 1}: {what} that {heard}"

    @property
    def missed(self) -> str:
        """That it has not happened."""
        return f"run {self.run + 1}: it was over before {self.who} could fail"


@dataclass(frozen=True, slots=True)
class Strikes:
    """All that happens in a trial, and in how many rounds the store writes once."""

    strikes: tuple[Strike, ...] = ()
    pace: int = 1

    @classmethod
    def seeded(
        cls,
        seed: int,
        names: Sequence[ProcessorId],
        crashes: int,
        failures: int,
        written: Collection[ProcessorId] = (),
    ) -> "Strikes":
        """As many of each as are asked for; every run but the last one crashes.

        A failure comes before the crash of its run. Where outputs are really ``written`` the first
        crash comes when the outside has a time and the driver does not know it: that is when a time
        is certain to be written again.
        """
        rng = random.Random(seed)
        dying = [Strike(run, rng.random(), rng.random() < 0.5) for run in range(crashes)]
        if dying and written:
            dying[0] = Strike(0, dying[0].place, written=frozenset(written))
        losing = []
        for _ in range(failures if names else 0):
            run = rng.randint(0, crashes)
            before = dying[run].place if run < crashes else 1.0
            lost = frozenset(rng.sample(names, rng.randint(1, min(2, len(names)))))
            losing.append(Strike(run, rng.random() * before, after=True, lost=lost))
        return cls((*dying, *losing), rng.choice(PACES))

    def of(self, run: int) -> list[Strike]:
        """What happens in one of the runs."""
        return [strike for strike in self.strikes if strike.run == run]


class Aim:
    """Finds in one run of a trial the moments of its strikes.

    A moment that does not come, because a failure has changed what is to come, is replaced by the
    next one of the run in peace that does.
    """

    def __init__(self, calm: Sequence[Heard], strikes: Sequence[Strike]) -> None:
        """``calm`` is what the run in peace has heard of, in its order."""
        self.calm, self.waiting = calm, list(strikes)
        self._places = {each: place for place, each in enumerate(calm)}
        self._targets: dict[int, int] = {}

    def hit(self, heard: Sequence[Heard]) -> list[Strike]:
        """The strikes whose moment is now; a crash is alone, for nothing else matters then."""
        places = [self._places[each] for each in heard if each in self._places]
        if not places:
            return []
        if not self._targets:
            self._targets = {id(each): self._target(each, min(places)) for each in self.waiting}
        hit = [each for each in self.waiting if self._is_hit(each, heard)]
        hit = next(([each] for each in hit if not each.lost), hit)
        self.waiting = [each for each in self.waiting if each not in hit]
        return hit

    def _is_hit(self, strike: Strike, heard: Sequence[Heard]) -> bool:
        target = self._targets[id(strike)]
        return any(self._places.get(each, -1) >= target for each in heard if strike.fits(each))

    def _target(self, strike: Strike, first: int) -> int:
        """The place in the run in peace at which a run that begins with its ``first`` is struck."""
        coming = range(first, len(self.calm))
        fitting = [place for place in coming if strike.fits(self.calm[place])] or coming
        return fitting[int(strike.place * len(fitting))]
