"""Starts a driver, kills it with everything that it has started, and starts it again.

Whatever a killed process leaves behind lies in the folder of its campaign.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.faults.driver_judge import judge
from tests.faults.driver_strikes import NEVER, RECOVERING, Strike

ROOT = Path(__file__).parents[2]
SECONDS_MAX = 280
TELLING = ("STRUCK", "FINISHED", "lost what they held", "Error", "Traceback", "falkirk.failures")
BACK = "goes back to"


@dataclass
class Campaign:
    """One store, one outside, and one driver after the other."""

    folder: Path
    fault: str = ""
    kills: int = 0
    starts: int = 0
    finished: bool = False
    transcript: list[str] = field(default_factory=list)

    def strike(self, strike: Strike) -> bool:
        """Starts a driver for ``strike``; whether it was killed (it may have finished before)."""
        self.starts += 1
        log = self.folder / f"run-{self.starts}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        (self.folder / "tmp").mkdir(exist_ok=True)
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.command(strike),
                cwd=ROOT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self.watch(process, strike, log)
        finally:
            kill_group(process)
        self.tell(strike, log, process.returncode)
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            return True
        if process.returncode:
            raise AssertionError(f"the driver failed, status {process.returncode}")
        self.finished = True
        return False

    def command(self, strike: Strike) -> list[str]:
        """What starts a driver that will be struck."""
        child = [sys.executable, "-m", "tests.faults.driver_child", str(self.folder), str(strike)]
        return child + [self.fault] * bool(self.fault)

    def judge(self) -> list[str]:
        """What is wrong with what the outside saw."""
        return judge(self.folder)

    def watch(self, process: "subprocess.Popen[bytes]", strike: Strike, log: Path) -> None:
        """Waits for the end of a driver, or ends it by the clock."""
        if strike.moment == "clock":
            wanted = f"transaction {strike.number}:".encode()
            deadline = time.monotonic() + SECONDS_MAX
            while process.poll() is None and wanted not in log.read_bytes():
                if time.monotonic() > deadline:
                    raise AssertionError(f"no {wanted!r} after {SECONDS_MAX} seconds")
                time.sleep(0.02)
            try:
                process.wait(strike.milliseconds / 1000)
            except subprocess.TimeoutExpired:
                kill_group(process)
            return
        try:
            process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.transcript += [f"  | {line}" for line in log.read_text().splitlines()[-20:]]
            raise AssertionError(f"the driver did not end in {SECONDS_MAX} seconds") from None

    def tell(self, strike: Strike, log: Path, status: int) -> None:
        """Notes what a driver did."""
        text = log.read_text(errors="replace").splitlines()
        done = sum(" transaction " in line for line in text)
        self.transcript.append(
            f"start {self.starts}, {strike}: {done} transactions, status {status}"
        )
        self.transcript += [f"  {line}" for line in told(text)]

    def finish(self) -> list[str]:
        """Lets the flow come to its end, and says what is wrong with what the outside saw."""
        if not self.finished:
            self.strike(NEVER)
        return self.judge()

    def environment(self) -> dict[str, str]:
        """Nothing is written outside of the folder."""
        place = str(self.folder / "tmp")
        java = "-XX:TieredStopAtLevel=1 -XX:-UsePerfData"
        return {
            **os.environ,
            "TMPDIR": place,
            "SPARK_LOCAL_DIRS": place,
            "SPARK_LAUNCHER_OPTS": f"{java} -Djava.io.tmpdir={place}",
            "PYTHONFAULTHANDLER": "1",
        }


def told(lines: Sequence[str]) -> list[str]:
    """What matters of a log: each recovery in one line, by frontiers, and whatever went wrong."""
    found: list[str] = []
    frontiers: dict[str, list[str]] = {}
    for line in [*lines, ""]:
        if BACK in line:
            p, frontier = line.partition(": ")[2].split(f" {BACK} ")
            frontiers.setdefault(frontier, []).append(p)
            continue
        if frontiers:
            groups = (f"{f} {' '.join(ps)}" for f, ps in sorted(frontiers.items()))
            found.append(f"rolled back to {'; '.join(groups)}")
            frontiers = {}
        if any(each in line for each in TELLING):
            found.append(line)
    return found


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Ends a driver and everything that it has started, and waits until all of it is gone."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 10
    while members(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not members(process.pid), f"processes of {process.pid} survived SIGKILL"


def members(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it is gone by now
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def run_strikes(
    folder: Path, strikes: Sequence[Strike], replay: str, fault: str = ""
) -> list[Campaign]:
    """Kills drivers at all ``strikes``, in as many campaigns as it takes, and judges each.

    Raises an AssertionError with the whole transcript and the command that replays it.
    """
    campaigns: list[Campaign] = []
    left = list(strikes)
    while left or not campaigns:
        campaign = Campaign(folder / f"campaign-{len(campaigns) + 1}", fault)
        campaigns.append(campaign)
        try:
            while left and not campaign.finished:
                chosen = next_strike(left, campaign)
                if campaign.strike(chosen):
                    left.remove(chosen)
                elif campaign.starts == 1:
                    raise AssertionError(f"{chosen} never comes")
            wrong = campaign.finish()
        except AssertionError as error:
            wrong = [str(error)]
        if wrong:
            story = ["what happened:", *campaign.transcript, f"again: {replay}"]
            raise AssertionError("\n".join([*wrong, *story]))
    return campaigns


def next_strike(left: list[Strike], campaign: Campaign) -> Strike:
    """The next strike; a campaign begins with one that comes even if there is no recovery."""
    if not campaign.starts and all(strike.moment in RECOVERING for strike in left):
        left[0] = replace(left[0], moment="transaction done", number=3)
    return next(s for s in left if campaign.starts or s.moment not in RECOVERING)
