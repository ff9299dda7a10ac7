"""Who may see the dashboard, and who may change anything."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from tests.unit.web.asking import Client

from falkirk.web.access import Guard


async def hello(request: object) -> PlainTextResponse:
    return PlainTextResponse("hello")


def client(token: str | None = None, host: str = "127.0.0.1:8640") -> Client:
    inner = Starlette(routes=[Route("/", hello, methods=["GET", "POST"])])
    return Client(Guard(inner, token), f"http://{host}")


@pytest.mark.parametrize("host", ["127.0.0.1:8640", "localhost:1", "[::1]:8640", "127.0.0.1"])
def test_on_loopback_this_machine_is_let_in(host: str) -> None:
    assert client(host=host).get("/").text == "hello"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "x y"])
def test_a_name_that_merely_leads_here_is_not(host: str) -> None:
    answer = client().get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "for this machine only" in answer.text


def test_a_page_of_others_changes_nothing() -> None:
    guarded = client()
    assert guarded.post("/", headers={"origin": "http://evil.example"}).status_code == 403
    assert guarded.post("/", headers={"origin": "null"}).status_code == 403
    assert guarded.post("/", headers={"origin": "http://127.0.0.1:8640"}).status_code == 200
    assert guarded.post("/").status_code == 200, "a program that is no browser"


def test_with_a_token_any_name_will_do_but_nobody_comes_without_it() -> None:
    guarded = client("swordfish", "dash.example")
    refused = guarded.get("/")
    assert refused.status_code == 401
    assert "asks for its token" in refused.text
    for wrong in ("", "Bearer", "Bearer sword", "Basic swordfish", "Bearer swordfish2"):
        assert guarded.get("/", headers={"authorization": wrong}).status_code == 401
    assert guarded.get("/", headers={"authorization": "Bearer swordfish"}).text == "hello"


def test_the_token_in_an_address_becomes_a_cookie() -> None:
    guarded = client("swordfish")
    assert guarded.get("/?token=perch").status_code == 401
    answer = guarded.get("/?token=swordfish&x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?x=1")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert guarded.get("/").text == "hello"
    guarded.cookies.clear()
    assert guarded.post("/?token=swordfish").status_code == 401, "addresses change nothing"


def test_a_broken_cookie_is_no_token() -> None:
    assert client("swordfish").get("/", headers={"cookie": "falkirk-token=;;=,"}).status_code == 401


def test_pages_may_only_use_what_comes_from_here() -> None:
    policy = client().get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
