"""Give agents what the user writes to them as their user's prompt, where their program has a way for that.

The message in the mailbox is the record; the prompt is its text, and says so. What doesn't come stays mail.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

from console.handout.portion import typed
from console.hooks.provenance import note_sent, words_digest
from console.hooks.sessions.hooked_agents import CODEX, SESSION, HookedAgents, LiveHook
from console.hooks.sessions.mailbox_choice import store_option
from console.hooks.state_folder import hooks_folder
from console.hooks.user_prompts import BY_BELL, UserPrompt, new_prompt
from console.hooks.waking.wake_session import queue, touch_bell
from mailstore.errors import reason_of
from mailstore.records.draft import Draft
from mailstore.records.message import Message
from mailstore.records.scope import Scope, label_of, parts_of

Coming = Mapping[str, tuple[LiveHook, UserPrompt]]
"""By agent, the session that gets a message as a prompt."""


def prompted(names: Iterable[str], hooked: HookedAgents, store_url: str) -> dict[str, LiveHook]:
    """Return which agents of a mailbox can get their user's words as a prompt, with their sessions."""
    folders = {hooks_folder(url) for url in (store_url, *parts_of(store_url).values())}
    hooks = {name: hook for name in names if (hook := hooked.live.get(name)) is not None and hook.folder in folders}
    return {
        name: hook
        for name, hook in hooks.items()
        if (hook.tool == CODEX or (hook.tool in BY_BELL and hook.takes_prompts)) and SESSION.fullmatch(hook.session_id)
    }


def begin(hooks: Mapping[str, LiveHook], draft: Draft, store_url: str) -> Coming:
    """Keep hooks from announcing a message that is about to be sent, and comes as a prompt.

    Blocks. Where that can't be written, the message is mail like any other.
    """
    live_hooks = {}
    for name, hook in hooks.items():
        scope = _scope(hook, name, store_url)
        words = words_digest([*map(scope.bare, draft.recipients)], draft.subject, draft.type, draft.content)
        prompt = new_prompt(hook.folder, hook.tool, hook.session_id, words, time.time())
        with suppress(OSError):
            prompt.save()
            live_hooks[name] = hook, prompt
    return live_hooks


def give_up(coming: Coming) -> None:
    """Have a message announced after all. Blocks."""
    for _, prompt in coming.values():
        prompt.forget()


def deliver(coming: Coming, message: Message, draft: Draft, store_url: str) -> dict[str, str]:
    """Give a sent message to the sessions; return by agent why that failed, "" where it didn't.

    Blocks for some seconds at most.
    """
    result = {}
    for name, (hook, prompt) in coming.items():
        prompt.message_id = _scope(hook, name, store_url).bare(message.id)
        prompt.prompt = prompt_text(hook, draft, prompt.message_id)
        try:
            prompt.save()
            result[name] = queue(hook, prompt.prompt) if hook.tool == CODEX else touch_bell(hook)
        except OSError as error:
            result[name] = reason_of(error)
        if result[name]:
            prompt.forget()
    return result


def prompt_text(hook: LiveHook, draft: Draft, message_id: str) -> str:
    """Return the prompt: what the user wrote, and which message that is, so that it can be answered as one."""
    store = store_option(hook.mailbox, hook.cwd, os.environ)
    words = ("send", "--from", hook.agent_id, "--to", draft.sender, "--in-reply-to", message_id)
    reply = typed(*words, "--body", "TEXT", store=store)
    content = draft.content.strip()
    files = f", with {len(draft.attachments)} attached" if draft.attachments else ""
    note = f"(Message {message_id} of your user in Signalbox{files}; counts as read. To answer there: {reply})"
    head = [draft.subject] if draft.subject and not content.startswith(draft.subject) else []
    return "\n\n".join([*head, content, note])


def note_own(draft: Draft, message: Message, store_url: str) -> None:
    """Note that the console sent a message, so that hooks and `check` can say that the user wrote it.

    Blocks. Where that can't be written, it is mail like any other.
    """
    label = label_of(message.id)
    url = parts_of(store_url).get(label, "") if label else ""
    for place, scope in {store_url: Scope(""), **({url: Scope(label)} if url else {})}.items():
        words = words_digest([*map(scope.bare, message.recipients)], message.subject, message.type, draft.content)
        with suppress(OSError):
            note_sent(place, scope.bare(message.id), words)


def _scope(hook: LiveHook, name: str, store_url: str) -> Scope:
    """Return the names that a hook's mailbox has in the console's."""
    return Scope("" if hook.folder == hooks_folder(store_url) else label_of(name))
