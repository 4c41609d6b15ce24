"""What agents are given so that they read their mail: hooks and instructions, put in and taken out of their files."""
