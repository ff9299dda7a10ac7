"""A process is told from another one, even from a later one with the same number."""

import os
import subprocess
import sys

import pytest

from falkirk.store.owner import Owner, started, this_process


def test_this_process_lives() -> None:
    assert this_process().pid == os.getpid()
    assert not this_process().dead


def test_a_process_that_ended_is_dead() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert Owner(this_process().host, ended.pid, "").dead


def test_a_later_process_with_the_same_number_is_another_one() -> None:
    here = this_process()
    assert Owner(here.host, here.pid, "another boot:1").dead


def test_nobody_knows_of_other_hosts() -> None:
    assert not Owner("elsewhere", 1 << 30, "").dead


def test_a_process_of_which_nothing_is_known_may_live() -> None:
    assert not Owner(this_process().host, os.getpid(), "").dead


def test_the_first_process_lives() -> None:
    assert not Owner(this_process().host, 1, "").dead


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says it")
def test_a_process_that_only_waits_to_be_buried_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        owner = Owner(this_process().host, child.pid, started(child.pid))
        assert not owner.dead
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert owner.dead
