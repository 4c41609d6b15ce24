"""What one account of an agent does in each round: hand over what waits, then take in what has come."""

from __future__ import annotations

import os
import time
from threading import Event

import msgspec

from mailstore.errors import MailError, StoreError, log_unexpected, reason_of
from mailstore.kinds.agentazall.ledger import LedgerWay, SendState
from mailstore.kinds.agentazall.sync.inbox import AccountInbox, AgentInbox
from mailstore.kinds.agentazall.sync.ledger_writer import LedgerWriter
from mailstore.kinds.agentazall.sync.plan import AccountPlan
from mailstore.kinds.agentazall.sync.sending import Handover, Outbox, pause_after
from mailstore.kinds.agentazall.transports.transport import MessageRefused, OutgoingMessage, Transport
from mailstore.kit.secure import TransportDown


class AccountWork:
    """One account: used by one thread at a time. Counts what it did since it was made."""

    def __init__(
        self, account: AccountPlan, transport: Transport, outbox: Outbox, shared: AgentInbox, ledger: LedgerWriter
    ) -> None:
        self.label = transport.label
        self.can_send = transport.can_send
        self.agent = shared.agent
        self.sent = self.failures = 0
        self.trouble = ""
        self.wake = Event()
        """Set when there is something to do before the next round is due."""
        self._account = account
        self._transport = transport
        self._outbox = outbox
        self._inbox = AccountInbox(shared, account, self.label)
        self._shared = shared
        self._ledger = ledger
        self._renamed: tuple[OutgoingMessage, OutgoingMessage] | None = None
        """The message that was sent last, and as it goes by this account: it may have many recipients."""
        transport.prepare(self._inbox)

    def round(self, stop: Event, *, is_all: bool = False) -> float | None:
        """Do what is due, or all; return how long to pause if that failed, None if the account works."""
        try:
            if self._transport.can_send:
                # after a failure nothing waits for its own time: the server is back
                self._send_all(stop, None if is_all or self.trouble else time.time())
            if self._transport.can_receive and not stop.is_set():
                self._transport.receive(self._inbox)
        except MailError as error:
            return self._fail(str(error))
        except OSError as error:
            return self._fail(f"can't be written ({reason_of(error)}): free some disk space, or check the permissions")
        except Exception as error:
            if os.environ.get("SIGNALBOX_DEBUG"):
                raise
            log_unexpected(error, "carrying mail")
            # its words might quote anything, a password too
            return self._fail(f"internal error ({type(error).__name__}): set SIGNALBOX_DEBUG=1 to see it")
        if self.trouble:
            self._shared.tell(f"{self.agent}: {self.label} works again")
        self.failures, self.trouble = 0, ""
        self._note(is_up=True, pause=None)
        return None

    @property
    def received(self) -> int:
        """Return how many messages were kept, copies of known ones not counted."""
        return self._inbox.kept

    def _send_all(self, stop: Event, now: float | None) -> None:
        for handover in self._outbox.handovers(self.label, now):
            if stop.is_set():
                return
            if (held := self._outbox.hold(handover)) is not None:
                try:
                    self._send(held)
                finally:
                    self._outbox.release(held)

    def _send(self, handover: Handover) -> None:
        message = self._as_it_goes(handover.message.message)
        called = self._account.called(handover.recipient)
        way = handover.way._replace(tries=handover.way.tries + 1, last=time.time(), next=None)
        try:
            self._transport.send(message, called)
        except MessageRefused as error:
            self._outbox.note(way._replace(state=SendState.REFUSED, reason=self._without_label(str(error))))
            self._shared.tell(f"{self.agent}: {message.id} to {handover.recipient}: {error}")
            return
        except TransportDown as error:
            self._outbox.note(self._later(way, self._without_label(str(error))))
            raise
        except FileNotFoundError as error:
            self._outbox.note(self._later(way, f"an attachment is gone ({reason_of(error)})"))
            return
        self._outbox.note(way._replace(state=SendState.DELIVERED, reason=""))
        self.sent += 1

    def _as_it_goes(self, message: OutgoingMessage) -> OutgoingMessage:
        """Return a message with what its recipients are called by this account."""
        if self._renamed is None or self._renamed[0] is not message:
            others = {recipient: self._account.called(recipient) for recipient in message.recipients}
            self._renamed = (
                message,
                msgspec.structs.replace(
                    message,
                    recipients=tuple(others.values()),
                    copies=tuple(self._account.called(copy) for copy in message.copies),
                ),
            )
        return self._renamed[1]

    def _later(self, way: LedgerWay, reason: str) -> LedgerWay:
        return way._replace(reason=reason, next=time.time() + pause_after(self.failures))

    def _fail(self, why: str) -> float:
        reason = self._named(why)
        if not self.trouble:
            self._shared.tell(f"{self.agent}: {reason}")
        self.trouble = reason
        pause = pause_after(self.failures)
        self.failures += 1
        self._note(is_up=False, pause=pause)
        return pause

    def _named(self, reason: str) -> str:
        """Return a reason that names the account, once."""
        place = self.label.rpartition(" at ")[2]
        if reason.startswith(f"{place} "):
            return self.label + reason.removeprefix(place)
        return reason if self.label in reason else f"{self.label}: {reason}"

    def _without_label(self, reason: str) -> str:
        """Return a reason as it is recorded, beside the account's label."""
        return self._named(reason).removeprefix(self.label).lstrip(": ")

    def _note(self, *, is_up: bool, pause: float | None) -> None:
        now = time.time()
        try:
            reason = self._without_label(self.trouble) if self.trouble else ""
            self._ledger.note_account(
                self.agent, self.label, is_up, now, reason, None if pause is None else now + pause
            )
        except (OSError, StoreError) as error:
            self._shared.tell(f"{self._ledger.path} can't be written ({reason_of(error)})")
