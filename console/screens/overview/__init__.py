"""The overview of the fleet: the screen, and what it computes and shows."""
