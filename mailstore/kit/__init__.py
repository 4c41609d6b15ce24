"""The mechanisms that make a store short."""
