"""What states, concerns and problems are called, and their symbols."""
