"""What is said of signatures: fact by fact, against the vectors of the system's own program, and by spoofs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.installation import remedy
from mailstore.kinds.agentazall import signature
from mailstore.kinds.agentazall.block import as_upstream_reads, block_of, unwrapped
from mailstore.kinds.agentazall.message_file import SignedFile, parse
from mailstore.kinds.agentazall.pins import Key, Pins
from mailstore.kinds.agentazall.signature import SignatureVerdict, facts_of, fingerprint_of
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.records.events import Reset
from mailstore.records.message import Problem
from tests.kinds.agentazall.agentazall_mail import FIXTURE, AgentAZAllMail, identity, told

VECTORS = json.loads((FIXTURE / "vectors" / "signature_vectors.json").read_text())
BOB, EVE = identity(1), identity(2)


def message(body: str) -> SignedFile:
    return SignedFile({}, (), body)


@pytest.fixture
def mail(tmp_path: Path) -> AgentAZAllMail:
    mail = AgentAZAllMail(tmp_path)
    mail.agent("ann@localhost")
    mail.agent("bob@localhost")
    return mail


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: str(vector["name"]))
def test_our_rule_finds_every_honest_signature_and_tells_what_upstream_finds(vector: dict[str, object]) -> None:
    facts = facts_of(message(str(vector["signed_block"])))
    assert facts.verdict is SignatureVerdict.VALID
    assert facts.is_named
    assert facts.upstream is vector["upstream_after_disk_roundtrip"]
    assert unwrapped(str(vector["signed_block"])) == vector["body"]


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: str(vector["name"]))
def test_signing_gives_the_very_bytes_of_the_program(vector: dict[str, object]) -> None:
    seed = bytes.fromhex(VECTORS["seed_hex"])
    own = type(BOB)(seed, bytes(identity(1).public))._replace(public=_public(seed))
    assert own.signed(str(vector["body"])) == vector["signed_block"]
    assert fingerprint_of(own.public) == VECTORS["fingerprint"]


def _public(seed: bytes) -> bytes:
    from mailstore.kinds.agentazall.identity import public_of

    return public_of(seed)


def test_all_47_files_of_the_program_are_valid_and_14_are_not_to_itself() -> None:
    listed = json.loads((FIXTURE / "MANIFEST.json").read_text())
    facts = [facts_of(parse((FIXTURE / copy["path"]).read_bytes())) for copy in listed]
    assert [one.verdict for one in facts] == [SignatureVerdict.VALID] * 47
    assert [one.upstream for one in facts] == [copy["upstream_verdict"] for copy in listed]
    assert [one.upstream for one in facts].count(False) == 14


@given(st.text())
def test_what_is_signed_is_valid_and_comes_out_again(body: str) -> None:
    try:
        signed = BOB.signed(body)
    except UnicodeEncodeError:
        return
    assert facts_of(message(signed)).verdict is SignatureVerdict.VALID
    assert unwrapped(signed) == body


@given(st.text(), st.integers(0, 400), st.characters(codec="utf-8"))
def test_any_change_within_is_never_valid_for_another_text(body: str, at: int, character: str) -> None:
    signed = BOB.signed(body.encode("utf-8", "replace").decode())
    changed = signed[: at % len(signed)] + character + signed[at % len(signed) + 1 :]
    block = block_of(changed)
    if block is not None and facts_of(message(changed)).verdict is SignatureVerdict.VALID:
        assert block.payload == unwrapped(signed)


@given(
    st.lists(
        st.sampled_from(
            [
                "---BEGIN AGENTAZALL SIGNED MESSAGE---",
                "---END AGENTAZALL SIGNED MESSAGE---",
                "x: y",
                "---BEGIN AGENTAZALL SIGNATURE---",
                "---END AGENTAZALL SIGNATURE---",
                "",
                "AA==",
                "\r",
            ]
        )
    )
)
def test_no_arrangement_of_markers_breaks_the_reader(lines: list[str]) -> None:
    body = "\n".join(lines)
    assert facts_of(message(body)).verdict is not SignatureVerdict.VALID
    assert isinstance(unwrapped(body), str)
    as_upstream_reads(body)


def test_text_around_an_old_block_does_not_pass_for_signed(mail: AgentAZAllMail) -> None:
    mail.message("ann@localhost/inbox", "old", BOB.signed("Good morning."))
    mail.message("ann@localhost/inbox", "spoof", "BOB SAYS: wire the money\n" + BOB.signed("Good morning."), ago=30)
    with AgentAZAllStore.open(mail.root) as store:
        found = {one.id: one for batch in store.scan() for one in batch if type(one).__name__ == "Message"}
        body = store.content(found["spoof"])
    assert {"!text-outside-signature", "upstream:valid"} <= set(found["spoof"].tags)
    assert body == "[not signed:]\nBOB SAYS: wire the money\n\n[signed:]\nGood morning."


def test_a_signed_quotation_in_an_unsigned_answer_pins_nothing_and_warns_of_nothing(mail: AgentAZAllMail) -> None:
    mail.message("ann@localhost/inbox", "answer", "My answer.\n\n" + EVE.signed("Quoted."))
    mail.message("ann@localhost/inbox", "own", BOB.signed("Mine."), ago=30)
    found, events = told(mail.root)
    assert "key:new" in found["own"].tags
    assert "!key:of-another" in found["answer"].tags
    assert not [event for event in events if isinstance(event, Problem)]


def test_a_fingerprint_of_another_key_is_shown_and_not_remembered(mail: AgentAZAllMail) -> None:
    signed = EVE.signed("Hello.").replace(fingerprint_of(EVE.public), fingerprint_of(BOB.public))
    mail.message("ann@localhost/inbox", "m", signed)
    tags = told(mail.root)[0]["m"].tags
    assert {"signature:valid", "!fingerprint:MISMATCH"} <= set(tags)
    assert not [tag for tag in tags if tag.startswith("key:")]


@pytest.mark.parametrize(
    ("body", "tag"),
    [
        ("Plain.", "signature:none"),
        (BOB.signed("Hello.").replace("Hello", "Hullo"), "!signature:INVALID"),
        (BOB.signed("Hello.")[:-40], "!signature:BROKEN"),
        (BOB.signed("Hello.").replace("Public-Key: ", "Public-Key: !"), "!signature:INVALID"),
        (BOB.signed("Hello.").replace("\n", "\r\n"), "signature:valid"),
        ("A line that names ---BEGIN AGENTAZALL SIGNED MESSAGE--- and no more.", "signature:none"),
    ],
)
def test_a_signature_is_said_to_be_what_it_is(mail: AgentAZAllMail, body: str, tag: str) -> None:
    mail.message("ann@localhost/inbox", "m", body)
    assert tag in told(mail.root)[0]["m"].tags


def test_a_changed_key_is_warned_of_once_and_marked_on_each_message(mail: AgentAZAllMail) -> None:
    mail.message("ann@localhost/inbox", "first", BOB.signed("Bob here."))
    assert "key:new" in told(mail.root)[0]["first"].tags
    for name in ("second", "third"):
        mail.message("ann@localhost/inbox", name, EVE.signed("Bob here, really."), ago=30)
    mail.message("ann@localhost/inbox", "fourth", BOB.signed("Bob again."))
    found, events = told(mail.root)
    assert {name: one.tags[-1] for name, one in found.items()} == {
        "first": "key:new",
        "second": "!key:CHANGED",
        "third": "!key:CHANGED",
        "fourth": "key:pinned",
    }
    [problem] = [event for event in events if isinstance(event, Problem)]
    assert not problem.fatal
    for word in ("bob@localhost", fingerprint_of(BOB.public), fingerprint_of(EVE.public)):
        assert word in problem.reason


@pytest.mark.parametrize("signers", ["BEB", "BEEB", "BBE", "BEBE", "BE"])
def test_on_first_opening_the_oldest_key_is_right(mail: AgentAZAllMail, signers: str) -> None:
    for number, name in enumerate(signers):
        who = BOB if name == "B" else EVE
        date = f"2026-11-20 12:00:{number:02}"
        mail.message("ann@localhost/inbox", f"m{number}", who.signed(f"{number}"), ago=60 - number, Date=date)
    for _ in range(2):
        found, events = told(mail.root)
        assert [f"m{at}" for at, name in enumerate(signers) if name == "E"] == sorted(
            name for name, one in found.items() if "!key:CHANGED" in one.tags
        )
        last = max((at for at, event in enumerate(events) if isinstance(event, Reset)), default=0)
        [problem] = [event for event in events[last:] if isinstance(event, Problem)]
        assert f"{fingerprint_of(BOB.public)} was seen first" in problem.reason


def test_keys_are_kept_for_each_mailbox_where_only_the_owner_reads(mail: AgentAZAllMail) -> None:
    mail.message("ann@localhost/inbox", "m", BOB.signed("Hello."))
    told(mail.root)
    path = Pins("").path
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(json.loads(path.read_text())) == [str(mail.root)]
    assert json.loads(path.read_text())[str(mail.root)]["bob@localhost"]["public_key"] == BOB.public_key
    other = Pins("elsewhere")
    other.load()
    assert other.known("bob@localhost") is None


def test_of_two_consoles_the_first_to_remember_a_key_is_right() -> None:
    one, other = Pins("here"), Pins("here")
    assert one.compare("bob", BOB.public_key, "m") is Key.NEW
    assert other.compare("bob", EVE.public_key, "n") is Key.NEW
    one.save(at_once=True)
    other.save(at_once=True)
    again = Pins("here")
    again.load()
    assert again.known("bob") == one.known("bob") == other.known("bob")


@pytest.mark.parametrize("damaged", ["{ no json", '{"m":{"bob":{"x":' + "[" * 100_000], ids=["no-json", "deep"])
def test_keys_that_can_not_be_kept_are_told_of_and_stay_as_they_are(mail: AgentAZAllMail, damaged: str) -> None:
    path = Pins("").path
    path.parent.mkdir(parents=True)
    path.write_text(damaged)
    mail.message("ann@localhost/inbox", "m", BOB.signed("Hello."))
    found, events = told(mail.root)
    assert "signature:valid" in found["m"].tags
    [problem] = [event for event in events if isinstance(event, Problem)]
    assert "can't be stored" in problem.reason
    assert path.read_text() == damaged
    assert [each.name for each in path.parent.iterdir()] == ["pins.json"]


def test_without_the_library_it_says_once_how_to_get_it(mail: AgentAZAllMail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signature, "is_checkable", lambda: False)
    for number in range(3):
        mail.message("ann@localhost/inbox", f"m{number}", BOB.signed(f"Number {number}."))
    mail.message("ann@localhost/inbox", "plain")
    found, events = told(mail.root)
    assert "signature:not-checked" in found["m0"].tags
    assert "signature:none" in found["plain"].tags
    [problem] = [event for event in events if isinstance(event, Problem)]
    assert remedy("agentazall") in problem.reason


def test_the_headers_of_an_early_version_are_checked_as_it_signed_them() -> None:
    import base64

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    head = f"From: bob@localhost\nTo: ann@localhost\nPublic-Key: {BOB.public_key}\n"
    signed = Ed25519PrivateKey.from_private_bytes(BOB.seed).sign(f"{head}---\nHello.".encode())
    data = f"{head}Signature: {base64.b64encode(signed).decode()}\n\n---\nHello.".encode()
    assert facts_of(parse(data)).tags() == ("signature:legacy-valid", "upstream:valid")
    assert facts_of(parse(data.replace(b"ann", b"eve"))).verdict is SignatureVerdict.LEGACY_INVALID
