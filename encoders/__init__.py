"""A state seen by a network: features (states → arrays)."""
