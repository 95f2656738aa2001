"""Matches between agents: games, tournaments, tables, Elo."""
