"""Means that look for what no example shows: sudden ends, full disks, looks that write, bytes that mean harm.

A bounded run of each is a test. `python -m tests.hostile` names the long ones.
"""
