"""The web application: its door, its page, the terminal's files, sockets and downloads."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection
from importlib.resources import files
from pathlib import Path

from aiohttp import web

from console.serve.access import Keys, PageAccess, is_known_host, is_own_origin, plain_name
from console.serve.sockets import Sockets

PAGE = Path(__file__).with_name("page")
PAGE_FILES = frozenset({"page.js", "entry.js", "fonts.css", "page.css", "icon.svg"})
TERMINAL_FILES = frozenset(
    {
        "css/xterm.css",
        "js/textual.js",
        "fonts/RobotoMono-VariableFont_wght.ttf",
        "fonts/RobotoMono-Italic-VariableFont_wght.ttf",
    }
)
"""Of textual-serve's files, those that our page loads."""
OPEN_TO_ALL = frozenset({"/page/page.css", "/page/entry.js", "/page/icon.svg"})
"""What the page of refusal needs; nothing in it is secret."""
TOKEN = "token"  # noqa: S105 - the name of a parameter
DAY = 86400

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Website:
    """Lets in who has the link, and gives each page a console."""

    def __init__(self, keys: Keys, sockets: Sockets, *, names: Collection[str], is_secure: bool, cookie: str) -> None:
        self._keys = keys
        self._sockets = sockets
        self._names = frozenset(map(plain_name, names))
        self._is_secure = is_secure
        self._cookie = cookie

    def application(self) -> web.Application:
        """Return the application."""

        @web.middleware
        async def door(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._door(request, handler)

        application = web.Application(middlewares=[door])
        application.on_response_prepare.append(self._add_headers)
        application.add_routes(
            [
                web.get("/", self._index),
                web.get("/ws", self._socket),
                web.get("/alive", self._alive),
                web.get("/download/{key:[0-9a-f]{32}}", self._download, allow_head=False),
                web.get("/page/{name}", self._page_file),
                web.get("/terminal/{name:.*}", self._terminal_file),
            ]
        )
        return application

    # The door

    async def _door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        host = request.headers.get("Host", "")
        if not is_known_host(host, self._names):
            return web.Response(status=421, text="This address is not one of this server's: see --name.\n")
        if self._sockets.is_stopping:
            return web.Response(status=503, text="signalbox serve is ending.\n")
        if not self._comes_from_here(request, host):
            return web.Response(status=403, text="A page from elsewhere may not use this server.\n")
        if request.path == "/" and TOKEN in request.query:
            return self._let_in(request.query[TOKEN])
        if request.path in OPEN_TO_ALL:
            return await handler(request)
        return self._refused() if self._access(request) is None else await handler(request)

    def _access(self, request: web.Request) -> PageAccess | None:
        return self._keys.by_cookie(request.cookies.get(self._cookie, ""))

    def _comes_from_here(self, request: web.Request, host: str) -> bool:
        """Say whether no page from elsewhere sends this; following a link to the first page is allowed."""
        origin = request.headers.get("Origin")
        if request.path == "/ws" or origin is not None:
            return origin is not None and is_own_origin(origin, host, is_secure=self._is_secure)
        is_followed = request.path == "/" and request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
        return is_followed or request.headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none")

    def _let_in(self, token: str) -> web.Response:
        """Turn a link's token into a cookie; the address without it takes the link's place in the history."""
        access = self._keys.by_token(token)
        if access is None:
            return self._refused()
        response = web.Response(status=303, headers={"Location": "/"})
        response.set_cookie(self._cookie, access[1], httponly=True, samesite="Strict", secure=self._is_secure, path="/")
        return response

    def _refused(self) -> web.Response:
        policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; frame-ancestors 'none'"
        page = PAGE.joinpath("refused.html").read_text(encoding="utf-8")
        return web.Response(status=401, text=page, content_type="text/html", headers=security_headers(policy))

    @staticmethod
    async def _add_headers(_request: web.Request, response: web.StreamResponse) -> None:
        for name, value in security_headers().items():
            response.headers.setdefault(name, value)
        response.headers["Server"] = "signalbox"

    # What is behind it

    async def _index(self, request: web.Request) -> web.Response:
        nonce = secrets.token_hex(16)
        policy = page_policy(request.headers["Host"], nonce, is_secure=self._is_secure)
        page = PAGE.joinpath("console.html").read_text(encoding="utf-8").replace("NONCE", nonce)
        return web.Response(text=page, content_type="text/html", headers=security_headers(policy))

    async def _alive(self, _request: web.Request) -> web.Response:
        return web.Response(status=204)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        return await self._sockets.serve(request, self._access(request) or PageAccess.READ_ONLY)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        return await self._sockets.downloads.send(request, self._access(request) or PageAccess.READ_ONLY)

    async def _page_file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in PAGE_FILES:
            raise web.HTTPNotFound
        return web.FileResponse(PAGE / name)

    async def _terminal_file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in TERMINAL_FILES:
            raise web.HTTPNotFound
        statics = Path(str(files("textual_serve"))) / "static"
        return web.FileResponse(statics / name, headers={"Cache-Control": f"private, max-age={DAY}"})


def security_headers(policy: str = "default-src 'none'; frame-ancestors 'none'") -> dict[str, str]:
    """Return the headers of an answer with a Content-Security-Policy."""
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "Referrer-Policy": "no-referrer",
        "Server": "signalbox",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }


def page_policy(host: str, nonce: str, *, is_secure: bool) -> str:
    """Return the policy of the page: everything from here alone; styles that the terminal makes bear the nonce.

    The socket is named because some browsers don't count it as the page's own origin.
    """
    socket = f"{'wss' if is_secure else 'ws'}://{host}"
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            f"style-src 'self' 'nonce-{nonce}'",
            "font-src 'self'",
            "img-src 'self'",
            f"connect-src 'self' {socket}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
