"""Names as tokens of subjects, and where a mailbox is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.errors import StoreError
from mailstore.kinds.nats.address import NatsAddress, location_of
from mailstore.kinds.nats.subjects import LONGEST_TOKEN, mail_stream, name_of, token_of
from mailstore.location import without_secrets

NAMES = st.one_of(
    st.text(max_size=40),
    st.text(st.sampled_from("aA.*>% ~-_\t\n\x00é\ud800$"), max_size=8),
    st.text(st.characters(codec="utf-8"), min_size=90, max_size=400),
)


@given(NAMES)
def test_a_token_is_one_that_a_server_takes_and_says_its_name(name: str) -> None:
    token = token_of(name)
    assert token
    assert token.isascii()
    assert not set(token) & set(".*> \t\r\n\0/\\$~")
    assert len(token) <= LONGEST_TOKEN
    assert name_of(token) == name if not token.startswith("%%") else name_of(token) is None


@given(NAMES, NAMES)
def test_no_two_names_share_a_token(one: str, other: str) -> None:
    assert (token_of(one) == token_of(other)) is (one == other)


@pytest.mark.parametrize("token", ["%41", "%2e", "a.b", "~", "%FF", "%%", "a%", "%e9", "ä"])
def test_a_token_that_no_name_has_says_none(token: str) -> None:
    assert name_of(token) is None


def test_names_of_agents_stand_in_a_subject_as_they_are() -> None:
    assert [token_of(name) for name in ("ann-00000001", "Ann_2", "", "user")] == ["ann-00000001", "Ann_2", "%", "user"]


def test_a_streams_name_is_not_longer_than_a_server_takes() -> None:
    longest = location_of(f"//h/{'é' * 40}").address.mailbox
    assert len(mail_stream(longest)) <= 255


@pytest.mark.parametrize(
    ("text", "hosts", "mailbox", "userinfo"),
    [
        ("//host/box", ("host",), "box", ()),
        ("//HOST:4222/box/", ("host",), "box", ()),
        ("//one:4223,two,[::1]:5/b", ("one:4223", "two", "[::1]:5"), "b", ()),
        ("//ann:p%20q@host/box", ("host",), "box", ("ann", "p q")),
        ("//token@host/box", ("host",), "box", ("token",)),
        ("//ann:s3@one,ann:s3@two/box", ("one", "two"), "box", ("ann", "s3")),
        ("//host/a%20b.c", ("host",), "a b.c", ()),
        ("//host,host:4222/b", ("host",), "b", ()),
    ],
)
def test_a_location_names_servers_and_a_mailbox(
    text: str, hosts: tuple[str, ...], mailbox: str, userinfo: tuple[str, ...]
) -> None:
    found = location_of(text)
    assert (found.address.hosts, found.address.mailbox, found.userinfo) == (hosts, mailbox, userinfo)
    again = location_of(found.address.location)
    assert (again.address, again.userinfo) == (found.address, ())
    assert without_secrets(found.address.location) == found.address.location
    assert not [secret for secret in userinfo if secret in repr(found)]


@pytest.mark.parametrize(
    "text",
    ["", "box", "//", "//host", "//host/", "///box", "//ho st/box", "//host:0/b", "//host:99999/b", "//h/a\nb",
     "//h/" + "a" * 200, "//s3cret@/b", "//u:s3cret@h:x/b", "//h/b?replicas=six", "//h/b?replicas=99"],
)  # fmt: skip
def test_a_location_that_is_none_is_refused_without_what_was_typed_to_log_in(text: str) -> None:
    with pytest.raises(StoreError) as caught:
        location_of(text)
    assert caught.value.remedy
    assert "s3cret" not in str(caught.value)


def test_an_address_says_which_replicas_it_is_made_with() -> None:
    found = location_of("//h/b?replicas=3")
    assert found.replicas == 3
    assert found.address == NatsAddress(("h",), "b")
