"""Shell completion: a short script for each shell asks the program what may come next."""
