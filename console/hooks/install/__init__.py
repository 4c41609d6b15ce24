"""Install, remove and report agents' hooks: settings are edited as text, so that nothing else in them changes."""
