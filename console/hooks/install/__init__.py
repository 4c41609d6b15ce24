"""Install, remove and report the hooks of agents' programs: their files are edited as text, so that nothing else in them changes."""
