"""Who chooses moves: one policy interface, and the searches written once for every game."""
