"""Let stores find the tables of config.toml that are about their kind."""

from __future__ import annotations

from mailstore.server_settings import ProgramSettings, use_settings


def use_config_file() -> None:
    """Let stores ask for their tables; the file is read only when one does."""
    use_settings(_config_file)


def _config_file() -> ProgramSettings:
    from console.settings.config_file import ConfigFile

    return ConfigFile()
