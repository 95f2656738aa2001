"""States → arrays, compiled: what networks read, and the observation spaces of the environments."""
