"""The headers of every answer: what a page may load, who may frame it, and what nobody keeps."""

from __future__ import annotations


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
