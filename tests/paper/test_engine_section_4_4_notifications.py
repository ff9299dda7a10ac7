"""§4.4 on the real machine: requests for notifications, and progress, after a rollback."""

from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core.policy import batch, eager, lazy
from falkirk.testing.logic import Buffer, Later, Map, Sum


def test_requests_of_what_is_kept_are_issued_again() -> None:
    """Notification requests are state: the event that made the request is kept, so is the request.

    ``Sum`` asked at epoch 1; its own events of epoch 1 are undone, and with them that request.
    """
    flow = flow_of({"in": batch(), "sum": lazy(), "q": lazy()}, a="in > sum", b="sum > q")
    story = Story(flow, sum=Sum(), q=Buffer())
    story.ingest("in", 1)
    story.close("in")
    story.settle()
    story.ingest("in", 2)
    story.work()
    assert story.machine.state.standing["sum"].requests == {(1,)}
    story.fail("sum")
    assert story.machine.state.standing["sum"].requests == set()
    story.settle()
    assert story.machine.state.standing["sum"].requests == {(1,)}, "asked again, once"
    story.close("in")
    story.settle()
    assert story.whole_state("q") == [1, 2]


def test_a_request_for_a_later_time_survives() -> None:
    """Its event is inside the frontier, and its notification is not."""
    flow = flow_of({"in": batch(), "later": eager(), "q": lazy()}, a="in > later", b="later > q")
    story = Story(flow, later=Later(), q=Buffer())
    story.ingest("in", 7)
    story.close("in")
    story.work()
    story.persist_all()
    assert story.fail("later")["later"] == upto(0)
    assert story.machine.state.standing["later"].requests == {(1,)}
    story.close("in")
    story.settle()
    assert story.whole_state("q") == [7]


def test_no_notification_comes_before_progress_is_counted_anew() -> None:
    """After the rollback epoch 0 is open again, for those who were already to be notified, too."""
    flow = flow_of({"in": batch(), "p": lazy(5), "sum": lazy()}, a="in > p", b="p > sum")
    story = Story(flow, p=Map(0), sum=Sum())
    story.ingest("in", 1)
    story.close("in")
    story.deliver("p", "a", (0,))
    story.deliver("sum", "b", (0,))
    assert story.can_notify("sum", (0,))
    story.fail("p")
    assert not story.can_notify("sum", (0,)), "p will send at epoch 0 again"
    story.work("p")
    story.deliver("sum", "b", (0,))
    assert story.can_notify("sum", (0,))
