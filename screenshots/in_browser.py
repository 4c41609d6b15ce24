"""Take the picture of the console in a browser: a real server, a real Chromium. Needs chromium.

python -m screenshots.in_browser
"""

from __future__ import annotations

import base64
import sys
import tempfile
import time
from pathlib import Path
from xml.sax.saxutils import escape

from console.demo.history import write_history
from screenshots.take import SEED
from tests.serve.browser import CHROMIUM, Browser
from tests.serve.served import Served

HERE = Path(__file__).parent
WIDTH, HEIGHT, BAR = 1000, 600, 64


def framed(picture: bytes, title: str, address: str) -> str:
    """Return a picture of a page below a tab and an address, as SVG: the browser's own are not in its pictures."""
    data = base64.b64encode(picture).decode()
    font = 'font-family="system-ui,sans-serif" font-size="13" fill="#cdd5df"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + BAR}" width="{WIDTH}">'
        f'<rect width="{WIDTH}" height="{HEIGHT + BAR}" rx="8" fill="#1b2230"/>'
        f'<path d="M12 32V14a8 8 0 0 1 8-8h260a8 8 0 0 1 8 8v18z" fill="#2c3648"/><text x="26" y="24" {font}>'
        f'{escape(title)}</text><path d="M0 32h{WIDTH}v32H0z" fill="#2c3648"/>'
        f'<rect x="12" y="37" width="{WIDTH - 24}" height="22" rx="11" fill="#1b2230"/>'
        f'<text x="28" y="53" {font}>{escape(address)}</text>'
        f'<image y="{BAR}" width="{WIDTH}" height="{HEIGHT}" href="data:image/png;base64,{data}"/></svg>\n'
    )


def main() -> None:
    """Serve the demo's mailbox, open it, go into a thread, and keep the picture."""
    if CHROMIUM is None:
        sys.exit("chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        write_history(data, time.time(), SEED)
        home = Path(folder, "home")
        home.mkdir()
        with Served(f"haak:{data}", home) as server, Browser() as browser, browser.visit() as visit:
            tab = visit.tab(server.links["full"], width=WIDTH, height=HEIGHT)
            tab.wait_for("All mail")
            tab.wait_for("● live")
            tab.press("j", "j", "Enter")
            tab.wait_for("Leaf 233 is two leaves")
            tab.call(tab.page.wait_for_timeout(1_500))  # the cursor and the last frame
            picture = tab.call(tab.page.screenshot())
            title = tab.call(tab.page.title())
            address = f"127.0.0.1:{server.port}"
    drawn = framed(picture, title, address)
    (HERE / "browser.svg").write_text(drawn, encoding="utf-8")
    sys.stdout.write(f"browser.svg: {len(drawn) // 1024} KiB\n")


if __name__ == "__main__":
    main()
