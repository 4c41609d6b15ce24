"""What a connection is opened with: user and password, creds file or NKEY, and TLS.

They come from the URL, from the environment, or from the table [nats] of the settings, which has no `password` itself:

| variable | holds |
|---|---|
| `SIGNALBOX_NATS_CREDS` | path of a creds file: a JWT and a seed |
| `SIGNALBOX_NATS_NKEY` | path of a file with the seed of an NKEY |
| `SIGNALBOX_NATS_USER`, `SIGNALBOX_NATS_PASSWORD` | a name and its password; without a name the password is a token |
| `SIGNALBOX_NATS_PASSWORD_FILE` | path of a file with the password |
| `SIGNALBOX_NATS_CA` | path of the certificates that are trusted in place of the system's |
| `SIGNALBOX_NATS_CERT`, `SIGNALBOX_NATS_KEY` | paths of a certificate and its key, for servers that ask for one |
"""

from __future__ import annotations

import os
import re
import ssl
from functools import partial
from pathlib import Path
from typing import Any

from mailstore.errors import MailError, StoreError, reason_of
from mailstore.kinds.nats.address import NatsAddress
from mailstore.kinds.nats.nkey import sign, user_key
from mailstore.kit.secret import Secret, private_text
from mailstore.kit.secure import tls_context
from mailstore.server_settings import server_settings, variable

PREFIX = "SIGNALBOX_NATS_"
TABLE = "nats"
LOGIN = ("creds", "nkey", "user", "password", "password_file")
TRUST = ("ca", "cert", "key")
PART = re.compile(r"-----BEGIN ([A-Z ]+)-----\s*(\S+)\s*-+END [A-Z ]+-+")
JWT = "NATS USER JWT"
SEED = "USER NKEY SEED"
INBOX = re.compile(r"[A-Za-z0-9_%-]+")
"""Names that may stand in a subject as they are."""


def credentials_for(address: NatsAddress, userinfo: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the options of `opened` that hold credentials and TLS; those of a URL come first.

    `userinfo` is a name and a password, or a token alone.

    Raises StoreError for a file that others can read, that can't be read or that is not what it should be.
    """
    options = _who(userinfo)
    if address.is_tls:
        settings = _settings(TRUST)
        options["tls"] = _context(settings.get("ca", ""), settings.get("cert", ""), settings.get("key", ""))
    return options


def _settings(names: tuple[str, ...]) -> dict[str, str]:
    """Return what is set; the settings say nothing of names of which the environment gives any."""
    given = {name: os.environ.get(variable(TABLE, name), "") for name in names}
    settings = given if any(given.values()) else server_settings(TABLE, *names)
    return {name: str(value) for name, value in settings.items() if value}


def _who(userinfo: tuple[str, ...]) -> dict[str, Any]:
    if userinfo:
        return _login(*userinfo) if len(userinfo) > 1 else {"token": userinfo[0]}
    settings = _settings(LOGIN)
    if creds := settings.get("creds"):
        return _creds(Path(creds).expanduser())
    if nkey := settings.get("nkey"):
        return _nkey(_text(Path(nkey).expanduser()).strip())
    password = settings.get("password", "")
    if file := settings.get("password_file"):
        password = _text(Path(file).expanduser()).partition("\n")[0].strip()
    if name := settings.get("user"):
        return _login(name, password)
    return {"token": password} if password else {}


def _login(user: str, password: str) -> dict[str, Any]:
    inbox = {"inbox_prefix": inbox_of(user)} if INBOX.fullmatch(user) else {}
    return {"user": user, "password": password, **inbox}


def inbox_of(user: str) -> str:
    """Return the subject under which a user gets answers, so that a server can let nobody else listen there."""
    return f"_INBOX.{user}"


def _creds(path: Path) -> dict[str, Any]:
    parts = dict(PART.findall(_text(path)))
    if JWT not in parts or SEED not in parts:
        raise StoreError(f"{path} is not a creds file", "it must hold a user's JWT and the seed of its NKEY", "E405")
    jwt = Secret.of(parts[JWT])
    return {
        "user_jwt_cb": lambda: jwt.reveal().encode(),
        "signature_cb": partial(_signature, Secret.of(parts[SEED])),
        "inbox_prefix": inbox_of(user_key(parts[SEED])),
    }


def _nkey(seed: str) -> dict[str, Any]:
    key = user_key(seed)
    return {"user_key": key, "signature_cb": partial(_signature, Secret.of(seed)), "inbox_prefix": inbox_of(key)}


def _signature(seed: Secret, nonce: str) -> bytes:
    return sign(seed.reveal(), nonce)


def _text(path: Path) -> str:
    try:
        return private_text(path)
    except MailError as error:
        raise StoreError(error.problem, error.remedy) from error


def _context(authority: str, certificate: str, key: str) -> ssl.SSLContext:
    try:
        context = tls_context(Path(authority).expanduser() if authority else None, f"{PREFIX}CA")
    except MailError as error:
        raise StoreError(error.problem, error.remedy) from None
    if not certificate:
        return context
    try:
        context.load_cert_chain(Path(certificate).expanduser(), Path(key).expanduser() if key else None, lambda: "")
    except (OSError, ValueError) as error:
        why = "it is not in PEM" if isinstance(error, ssl.SSLError) else reason_of(error)
        raise StoreError(
            f"{certificate} and its key can't be read ({why})", f"check {PREFIX}CERT and {PREFIX}KEY", "E406"
        ) from error
    return context
