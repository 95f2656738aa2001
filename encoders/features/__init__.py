"""States → arrays, compiled: the observation spaces of the environments."""
