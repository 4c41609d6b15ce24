"""Let stores read the tables of config.toml that are about their servers."""

from __future__ import annotations

from collections.abc import Mapping

from mailstore.server_settings import read_settings_with


def use_config_file() -> None:
    """Let stores ask for their table; the file is read only when one does."""
    read_settings_with(_table)


def _table(name: str) -> Mapping[str, object]:
    from msgspec.structs import asdict

    from console.config_file import load_config

    table = getattr(load_config().config, name, None)
    return {} if table is None else asdict(table)
