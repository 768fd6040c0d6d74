"""Who may ask: the names, keys and origins that are let in, and what every answer says."""

import pytest
from starlette.datastructures import Headers

from scorespace.server.auth import Auth

GUARD = Auth(None, 8000, "key", "scorespace-1.localhost")


@pytest.mark.parametrize("host", ["scorespace-1.localhost:8000", "SCORESPACE-1.LOCALHOST:8000"])
def test_its_own_names(host):
    assert GUARD.is_ours(host)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "",
            "127.0.0.1:8000",
            "localhost:8000",
            "scorespace-2.localhost:8000",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:80",
            "evil.example:8000",
            "127.0.0.1.evil.example:8000",
        ),
        *("127.0.0.1:8000@evil.example:8000", "192.168.0.1:8000", "[::1]:8000", "127.0.0.1:8000:8000", "evil:8000"),
    ],
)
def test_names_that_lead_here_and_are_not_ours(host):
    """A page elsewhere can make a name of its own lead here (DNS rebinding): the name is all that tells."""
    assert not GUARD.is_ours(host)


def test_each_server_has_a_name_of_its_own_for_its_cookies():
    names = {Auth(None, 1).name for _ in range(20)}
    assert len(names) == 20
    assert all(name.endswith(".localhost") for name in names)
    assert Auth("127.0.0.1", 1).origin == "http://127.0.0.1:1"


def test_on_all_addresses_numbers_are_ours_and_names_are_not():
    every = Auth("0.0.0.0", 8000)
    assert every.is_ours("192.168.0.1:8000")
    assert every.is_ours("[fe80::1]:8000")
    assert not every.is_ours("evil.example:8000")
    assert every.address.startswith("http://127.0.0.1:8000/?token=")


@pytest.mark.parametrize(
    "cookies", ["", "scorespace-8000=", "scorespace-8000=KEY", "scorespace-9=key", "x=key", "\0=;"]
)
def test_cookies_without_the_key(cookies):
    assert not GUARD.admits(cookies)


def test_the_key_among_other_cookies_that_no_script_reads():
    assert GUARD.admits("a=b; scorespace-8000=key; c=d")
    assert GUARD.set_cookie == "scorespace-8000=key; Path=/; HttpOnly; SameSite=Strict"
    assert "key" not in repr(GUARD)
    assert len({Auth("127.0.0.1", 1).token for _ in range(20)}) == 20
    assert len(Auth("127.0.0.1", 1).token) >= 32


@pytest.mark.parametrize(
    ("origin", "site", "same"),
    [
        ("http://scorespace-1.localhost:8000", "same-origin", True),
        ("http://scorespace-1.localhost:8000", None, True),
        ("http://127.0.0.1:8001", None, False),
        ("https://127.0.0.1:8000", None, False),
        ("http://evil.example", None, False),
        ("http://scorespace-1.localhost:8000", "cross-site", False),
        ("null", None, False),
        (None, "same-origin", False),
    ],
)
def test_forms_come_from_its_own_pages(origin, site, same):
    headers = {"host": "scorespace-1.localhost:8000", "origin": origin, "sec-fetch-site": site}
    assert GUARD.is_same_origin(Headers({name: value for name, value in headers.items() if value})) is same
