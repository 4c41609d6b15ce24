"""AgentAZAll: a folder for each agent, a file for each copy of a message (docs/formats/agentazall.md).

Nothing is imported here: its transports and the settings of its sync are used without the store.
"""
