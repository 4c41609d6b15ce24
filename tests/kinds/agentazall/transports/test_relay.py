"""Mail over AgentAZAll's own relay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mailstore.kinds.agentazall.transports.relay import RelayAccount, RelayTransport, register
from mailstore.kinds.agentazall.transports.transport import Attachment, MessageRefused
from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown
from tests.kinds.agentazall.transports.outgoing import message
from tests.kinds.agentazall.transports.receiver import KeptMessages
from tests.servers.agentazall_programs import AgentRelay

NewName = Callable[[str], str]


def registered(relay: AgentRelay, name: str) -> RelayTransport:
    found = register(relay.url, name)
    return RelayTransport(RelayAccount(relay.url, found.address, found.secret))


@pytest.fixture
def ann(agentazall_relay: AgentRelay, new_name: NewName) -> RelayTransport:
    return registered(agentazall_relay, new_name("ann"))


@pytest.fixture
def bob(agentazall_relay: AgentRelay, new_name: NewName) -> RelayTransport:
    return registered(agentazall_relay, new_name("bob"))


def address(transport: RelayTransport) -> str:
    return transport.label.split()[1]


def test_a_message_arrives_as_it_was_sent(
    ann: RelayTransport, bob: RelayTransport, receiver: KeptMessages, tmp_path: Path
) -> None:
    data = bytes(range(256)) * 40
    (tmp_path / "blob.bin").write_bytes(data)
    sent = message(
        recipients=("bob@localhost", "cyd@localhost"),
        copies=("cyd@localhost",),
        thread="0a1b",
        attachments=(Attachment("blob.bin", tmp_path / "blob.bin"),),
    )
    ann.send(sent, address(bob))
    assert bob.receive(receiver) == 1
    [came] = receiver.messages
    assert came.sender == address(ann)  # as the relay says, by the token
    assert (came.id, came.subject, came.body, came.date) == (sent.id, sent.subject, sent.body, sent.date)
    assert (came.recipients, came.copies, came.thread) == (sent.recipients, sent.copies, "0a1b")
    assert came.attachments == (("blob.bin", data),)
    assert came.arrived is not None
    assert receiver.spooled() == []
    assert bob.receive(receiver) == 0


def test_messages_of_the_original_program_and_of_others_are_read(
    ann: RelayTransport, bob: RelayTransport, receiver: KeptMessages, agentazall_relay: AgentRelay, new_name: NewName
) -> None:
    token = agentazall_relay.token(new_name("cyd"))
    payloads = [
        json.dumps({"subject": "Hi", "body": "text", "from": "someone@else"}),
        "no JSON at all",
        json.dumps([1, 2]),
        json.dumps({"body": "x", "attachments": [{"name": "../../x", "data": "!!!"}, "no object"]}),
    ]
    for payload in payloads:
        agentazall_relay.said("POST", "/send", {"to": address(bob), "payload": payload}, token)
    assert bob.receive(receiver) == 4
    by_json, plain, other, damaged = receiver.messages
    assert (by_json.subject, by_json.body, by_json.id) == ("Hi", "text", "")
    assert by_json.sender.startswith("cyd")
    assert by_json.date.startswith("20")
    assert (plain.subject, plain.body) == ("(AgentTalk message)", "no JSON at all")
    assert other.body == "[1, 2]"
    assert [name for name, _ in damaged.attachments] == ["x"]


def test_what_the_filter_blocks_never_touches_the_disk(
    ann: RelayTransport, bob: RelayTransport, receiver: KeptMessages
) -> None:
    receiver.blocked = (address(ann),)
    ann.send(message(body="SECRET WORDS"), address(bob))
    bob.send(message(body="to myself"), address(bob))
    assert bob.receive(receiver) == 1
    assert [each.body for each in receiver.messages] == ["to myself"]
    assert list(receiver.turned.values()) == [f"the address filter blocks {address(ann)}"]
    assert list(receiver.senders.values()) == [address(ann)]
    assert receiver.every_spool
    assert not any(b"SECRET WORDS" in each for each in receiver.every_spool)
    assert b"SECRET WORDS" in next(iter(receiver.excerpts.values()))


def test_an_unknown_recipient_refuses_and_a_wrong_token_does_not(
    ann: RelayTransport, agentazall_relay: AgentRelay
) -> None:
    with pytest.raises(MessageRefused, match="nobody has no account on this relay"):
        ann.send(message(), "nobody")
    wrong = RelayTransport(RelayAccount(agentazall_relay.url, "ann", Secret.of("wrong-token")))
    with pytest.raises(TransportDown, match="rejects this token") as failure:
        wrong.send(message(), address(ann))
    assert "wrong-token" not in str(failure.value)
    assert "wrong-token" not in repr(wrong._account)


def test_a_taken_name_and_a_bad_one_are_refused(agentazall_relay: AgentRelay, new_name: NewName) -> None:
    name = new_name("ann")
    assert register(agentazall_relay.url, f"{name}.agenttalk").address == f"{name}.agenttalk"
    with pytest.raises(MessageRefused, match="the name is taken"):
        register(agentazall_relay.url, name)
    with pytest.raises(MessageRefused, match="refuses the name"):
        register(agentazall_relay.url, "x")


def test_nothing_is_fetched_with_the_token_of_another_agent_a_second_time(
    agentazall_relay: AgentRelay, ann: RelayTransport, new_name: NewName, receiver: KeptMessages
) -> None:
    dee = new_name("dee")
    token = Secret.of(agentazall_relay.token(dee))
    wrong = RelayTransport(RelayAccount(agentazall_relay.url, "eve.agenttalk", token))
    ann.send(message(body="for dee alone"), dee)
    with pytest.raises(TransportDown, match=f'belongs to "{dee}.agenttalk", not to eve.agenttalk .1 messages'):
        wrong.receive(receiver)
    assert receiver.messages == []
    [path] = receiver.spooled()
    assert b"for dee alone" in path.read_bytes()
    ann.send(message(body="a second"), dee)
    again = RelayTransport(RelayAccount(agentazall_relay.url, "eve.agenttalk", token))
    with pytest.raises(TransportDown, match="this token belongs"):
        again.receive(receiver)
    assert len(agentazall_relay.waiting(dee)) == 1


def test_what_an_interrupted_run_left_is_taken_in_once(
    agentazall_relay: AgentRelay, ann: RelayTransport, bob: RelayTransport, receiver: KeptMessages,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for number in range(3):
        ann.send(message(id=f"{number}", body=f"text {number}"), address(bob))
    keep = receiver.keep

    def killed(came: object) -> None:
        if len(receiver.kept) == 1:
            raise KeyboardInterrupt
        keep(came)  # type: ignore[arg-type]

    monkeypatch.setattr(receiver, "keep", killed)
    with pytest.raises(KeyboardInterrupt):
        bob.receive(receiver)
    assert agentazall_relay.waiting(address(bob).removesuffix(".agenttalk")) == []
    monkeypatch.setattr(receiver, "keep", keep)
    assert bob.receive(receiver) == 2
    assert sorted(each.id for each in receiver.messages) == ["0", "1", "2"]
    assert receiver.spooled() == []


def test_a_full_disk_loses_nothing(
    agentazall_relay: AgentRelay, ann: RelayTransport, bob: RelayTransport, receiver: KeptMessages,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    spool = receiver.spool

    def full(data: bytes) -> Path:
        if data:
            raise OSError(28, "No space left on device")
        return spool(data)

    ann.send(message(), address(bob))
    monkeypatch.setattr(receiver, "spool", full)
    with pytest.raises(OSError, match="No space"):
        bob.receive(receiver)
    with pytest.raises(OSError, match="No space"):
        bob.receive(receiver)
    monkeypatch.setattr(receiver, "spool", spool)
    assert bob.receive(receiver) == 1
    monkeypatch.setattr("mailstore.kinds.agentazall.transports.relay.LEAST_ROOM", 1 << 60)
    ann.send(message(), address(bob))
    with pytest.raises(TransportDown, match="the disk is almost full"):
        bob.receive(receiver)
    assert len(agentazall_relay.waiting(address(bob).removesuffix(".agenttalk"))) == 1
