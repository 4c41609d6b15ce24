"""What Linux alone has is used in one module each, which knows another way (tests/mailstore/test_elsewhere.py)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.project.import_graph import ROOT, modules

WAYS = {
    r"inotify_": {"mailstore/files/watch.py"},
    r"^/proc\b": {"console/hooks/sessions/processes.py", "mailstore/files/holders.py", "mailstore/files/mounts.py",
                  "mailstore/files/owned.py", "mailstore/kinds/claude_sessions/processes.py"},
    r"^O_TMPFILE$": {"mailstore/files/owned.py"},
    r"^F_SET(LEASE|SIG)$": {"mailstore/files/holders.py"},
    r"^posix_fallocate$": {"mailstore/kinds/agentazall/sync/inbox.py"},
    r"\bprctl\b": {"mailstore/kinds/nats/own_server.py"},
    r"^ctypes$": {"mailstore/files/watch.py"},
    r"^(notify-send|osascript)$": {"console/notifications/notifier.py"},
    r"^(xdg-open|wslview)$": {"console/opening.py"},
}  # fmt: skip
"""A pattern of names and texts, and the modules that may hold them."""
NEVER = re.compile(
    r"O_PATH|O_NOATIME|O_DIRECT|epoll|pidfd_\w+|memfd_create|eventfd|timerfd_\w+|signalfd|sched_\w+affinity|sendfile"
    r"|copy_file_range|splice|posix_fadvise|getrandom|setns|unshare|renameat2|CLOCK_(BOOTTIME|MONOTONIC_RAW|TAI)"
    r"|SOCK_(CLOEXEC|NONBLOCK)|AF_(NETLINK|VSOCK)|TCP_(USER_TIMEOUT|QUICKACK)|F_OFD_\w+|MAP_POPULATE|PR_SET_\w+"
    r"|/dev/shm\b.*|/sys/(?!kernel/random).*|/run/.*|/etc/.*"
)
BY_PLATFORM = {
    "mailstore/kinds/nats/own_server.py",
    "console/hooks/state_folder.py",
    "console/opening.py",
    "mailstore/files/database.py",
    "mailstore/files/user_folders.py",
    "mailstore/files/watch.py",
}
"""Who asks on which system this is; everybody else asks for what he needs."""


MAY_HOLD = re.compile("|".join(["sys.platform", NEVER.pattern, *(each.strip("^$") for each in WAYS)]))
"""What makes a module worth parsing."""


def said_in(text: str) -> Iterator[str]:
    """Yield the names that a module uses, and its texts but for documentation."""
    tree = ast.parse(text)
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield "sys.platform" if ast.unparse(node) == "sys.platform" else node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


@pytest.fixture(scope="module")
def said() -> dict[str, set[str]]:
    paths = [path for package in ("console", "mailstore") for path in modules(package)]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}
    return {path: set(said_in(text)) for path, text in texts.items() if MAY_HOLD.search(text)}


def test_each_is_where_its_other_way_is(said: dict[str, set[str]]) -> None:
    for pattern, places in WAYS.items():
        found = {path for path, words in said.items() if any(re.search(pattern, word) for word in words)}
        assert found == places, pattern


def test_what_has_no_other_way_is_not_used(said: dict[str, set[str]]) -> None:
    found = [(path, word) for path, words in said.items() for word in words if NEVER.fullmatch(word)]
    assert not found


def test_few_ask_on_which_system_they_are(said: dict[str, set[str]]) -> None:
    assert {path for path, words in said.items() if "sys.platform" in words} == BY_PLATFORM


def test_the_makefile_asks_for_nothing_that_macos_lacks() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    later = r"\.ONESHELL|\$\(file |!=|::=|\.EXTRA_PREREQS|\$\(let |\$\(intcmp |&:|\.NOTPARALLEL:"  # since make 3.81
    tools = r"\bsed -i|\breadlink -f|\brealpath\b|\bcp -\w*[ut]|\bdate -d|\bnproc\b|\bgrep -P|\bxargs -[rd]|\bmktemp --"
    assert not re.findall(later, text)
    assert not re.findall(tools, text)


BEGINS_A_TASK = re.compile(r"\.(create_task|ensure_future|run_worker)\(")


def _assigned(tree: ast.AST) -> set[str]:
    """Return the attributes that are assigned."""
    targets = [it for node in ast.walk(tree) if isinstance(node, ast.Assign) for it in node.targets]
    return {ast.unparse(it) for it in targets if isinstance(it, ast.Attribute)}


def _given_too_late(text: str) -> Iterator[str]:
    """Yield what is given a task whose coroutine assigns it as well."""
    kinds = ast.walk(ast.parse(text)) if BEGINS_A_TASK.search(text) else []
    for kind in (node for node in kinds if isinstance(node, ast.ClassDef)):
        methods = {node.name: node for node in kind.body if isinstance(node, ast.AsyncFunctionDef)}
        for node in ast.walk(kind):
            if isinstance(node, ast.Assign) and BEGINS_A_TASK.search(ast.unparse(node.value)):
                called = {it.attr for it in ast.walk(node.value) if isinstance(it, ast.Attribute)}
                for name in called & methods.keys():
                    yield from _assigned(node) & _assigned(methods[name])


def test_what_a_task_assigns_is_not_given_the_task() -> None:
    """From Python 3.12 on, Textual runs a new task at once: it may have ended before it is assigned."""
    paths = [path for package in ("console", "mailstore") for path in modules(package)]
    assert not {path: found for path in paths if (found := [*_given_too_late(path.read_text("utf-8"))])}
    kept = "class A:\n    async def end(self):\n        self.task = None\n    def begin(self):\n        self.task = "
    assert [*_given_too_late(kept + "asyncio.create_task(self.end())")] == ["self.task"]
