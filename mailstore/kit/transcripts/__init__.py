"""Read the transcripts of agents' sessions: only the lines that may prove something are decoded."""
