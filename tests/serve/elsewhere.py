"""A page of another site, in the same browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from tests.serve.served import Served

PAGE = """<a href="{link}">A link</a><p></p><script>
const say = (words) => document.querySelector("p").append(words + "; ");
new WebSocket("{socket}/ws").onclose = () => say("socket closed");
fetch("{address}/alive", {{credentials: "include"}}).then(() => say("fetch answered"), () => say("fetch refused"));
</script>"""


@contextmanager
def stranger(server: Served) -> Iterator[str]:
    """Serve a page of another site, which links to the server, and tries to use it with the visitor's cookie."""
    socket = server.address.replace("http", "ws")
    text = PAGE.format(link=server.links["full"], socket=socket, address=server.address).encode()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as site:
        thread = Thread(target=site.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{site.server_port}/"
        finally:
            site.shutdown()
            thread.join()
