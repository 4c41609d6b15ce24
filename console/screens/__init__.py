"""The screens: they decide; panes ask and show."""
