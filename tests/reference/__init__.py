"""Slow, obvious versions of the games, written from their rules: what the compiled engines are compared with."""
