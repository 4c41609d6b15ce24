"""What there is to set for the server: the table [agent_mail] of config.toml."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct


class AgentMailSettings(Struct, frozen=True):
    """The table [agent_mail]: the server of MCP Agent Mail, through which mail is sent."""

    url: Annotated[str, 'Its MCP endpoint, such as "http://127.0.0.1:8765/mcp/"; empty: its mail can only be read.'] = (
        ""
    )
    secret_file: Annotated[str, "A file with its bearer token on the first line, which only you can read."] = ""
    secret_command: Annotated[
        list[str],
        "A program that prints the token, and its arguments, instead of a file; "
        "$SIGNALBOX_AGENT_MAIL_TOKEN goes first.",
    ] = []
    ca_file: Annotated[
        str, "The certificate of the authority that it is signed by, in PEM; empty: those of the system."
    ] = ""
