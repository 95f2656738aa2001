"""A player's turn as a row of numbers, for evolution: the genes of genes.py. Whatever stands there is repaired."""

from __future__ import annotations

import numpy as np

from sandtable.envs import game
from sandtable.envs.jit import answer, jit
from sandtable.envs.warzone.genes import from_genes, gene_count, repair, seed_of, to_genes
from sandtable.envs.warzone.playouts import forget, random_orders
from sandtable.envs.warzone.rules import is_warzone, play, player


@jit
def random_plan(state, side, rng, plan):
    """The genes of a random move."""
    row = np.empty(len(state.pending), np.int16)
    random_orders(state, side, rng, row)
    to_genes(state, row, plan)


@jit
def _orders(state, side, plan, move):
    """Write a player's move by a plan, which stays as it is."""
    genes = plan.copy()
    rng = np.empty(1, np.uint64)
    rng[0] = seed_of(state, genes)
    repair(state, side, genes, rng, len(move) // 2)
    from_genes(state, genes, move)


@jit
def plan_move(state, plan, move):
    _orders(state, player(state), plan, move)


@jit
def play_plans(state, mine, theirs, rng, move):
    """Resolve the turn by both plans under a coin drawn now. Orders that the leader has given already count for
    nothing: the player to move does not know them and has a plan for them."""
    us = player(state)
    forget(state, rng)
    _orders(state, us, mine, move)
    play(state, move)
    _orders(state, 1 - us, theirs, move)
    play(state, move)


answer(game.plan_length, is_warzone, gene_count)
answer(game.random_plan, is_warzone, random_plan)
answer(game.plan_move, is_warzone, plan_move)
answer(game.play_plans, is_warzone, play_plans)
