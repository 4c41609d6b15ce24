"""The themes that come with Signalbox, one TOML file each."""
