"""The real programs of agents, each with a model that says what a script tells it to, and the real hooks.

`make test-agents` installs the programs from the package index and runs these tests; `make test` leaves them out.
"""
