"""A move as genes: one whole number for every territory (armies deployed) and for every directed edge (armies sent).

The numbers of the territories come first, then those of the edges, ordered by source and then by destination:
N + 2E in all (Soares 2025, algorithms 2 and 3). Genes do not tell the order of orders: it is that of the genes.
"""

from __future__ import annotations

import numpy as np

from sandtable.envs.jit import jit
from sandtable.envs.randomness import below, mix
from sandtable.envs.warzone.masks import count, has, lowest, nth, only, without_lowest
from sandtable.envs.warzone.playouts import finish, set_order
from sandtable.envs.warzone.rules import income, player
from sandtable.envs.warzone.state import MAX_ORDER, ORDER_MASK, ORDER_SHIFT


@jit
def gene_count(state):
    """N + 2E."""
    return np.int64(state.territories) + 2 * np.int64(state.edges)


@jit
def first_gene(state, source):
    """The index of the gene of the first edge out of a territory."""
    index = np.int64(state.territories)
    for i in range(source):
        index += count(state.adjacent[i])
    return index


@jit
def to_genes(state, move, genes):
    """Write the genes (N + 2E,) of a move; several orders along one edge are added up."""
    genes[:] = 0
    for i in range(move[0]):
        source, destination = move[1 + 2 * i] >> ORDER_SHIFT, move[1 + 2 * i] & ORDER_MASK
        index = source
        if source != destination:
            index = first_gene(state, source) + count(state.adjacent[source] & (only(destination) - np.uint64(1)))
        genes[index] = min(np.int64(genes[index]) + move[2 + 2 * i], MAX_ORDER)


@jit
def from_genes(state, genes, move):
    """Write the move of genes that are in order (see `repair`)."""
    at = 0
    for territory in range(state.territories):
        if genes[territory] > 0:
            set_order(move, at, territory, territory, genes[territory])
            at += 1
    index = np.int64(state.territories)
    for source in range(state.territories):
        rest = state.adjacent[source]
        while rest:
            if genes[index] > 0:
                set_order(move, at, source, lowest(rest), genes[index])
                at += 1
            rest = without_lowest(rest)
            index += 1
    finish(move, at)


@jit
def repair(state, side, genes, rng, room):
    """Put any numbers in order in place, as a move of a player (0 or 1) that deploys all of the income.

    What is not the player's to order becomes 0, and so do negative numbers. A deploy above the income becomes the
    income. If the deploys then are more than the income in sum, those that stay are drawn from them by lot; if they
    are fewer, each army that is left goes to a random own territory. If more armies are sent from a territory than
    are there, deploys included, the edges get what they ask for one after the other, from a random one on, until
    nothing is left. If a move of `room` orders cannot hold them all, the last edges get nothing. Genes that are in
    order stay as they are. rng (1,) uint64.
    """
    own = state.held[side]
    for i in range(len(genes)):
        genes[i] = min(max(genes[i], 0), MAX_ORDER)
    wanted = income(state, side)
    for territory in range(state.territories):
        genes[territory] = min(genes[territory], wanted) if has(own, territory) else 0
    orders = _repair_deploys(state, own, wanted, genes, rng)
    index = np.int64(state.territories)
    for source in range(state.territories):
        edges = count(state.adjacent[source])
        armies = np.int64(state.armies[source]) + np.int64(genes[source]) if has(own, source) else 0
        orders = _repair_edges(genes[index : index + edges], armies, rng, orders, room)
        index += edges


@jit
def _repair_deploys(state, own, wanted, genes, rng):
    """Make the deploys add up to `wanted`; how many territories get some."""
    total = np.int64(0)
    for i in range(state.territories):
        total += genes[i]
    if total > wanted:
        _keep_by_lot(genes, state.territories, total, wanted, rng)
    territories = count(own)
    for _ in range(wanted - total):
        genes[nth(own, below(rng, territories))] += 1
    orders = 0
    for i in range(state.territories):
        orders += genes[i] > 0
    return orders


@jit
def _keep_by_lot(genes, n, total, kept, rng):
    """Of all the armies in the first n genes keep so many, each as likely as any other."""
    for i in range(n):
        here = np.int64(genes[i])
        stay = 0
        for _ in range(here):
            # One pass over the armies: each stays with probability (still to keep) / (still to come).
            if kept == 0:
                break
            if below(rng, total) < kept:
                stay += 1
                kept -= 1
            total -= 1
        genes[i] = stay


@jit
def _repair_edges(edges, armies, rng, orders, room):
    """The same for the edges out of one territory with so many armies; the number of orders then."""
    n = len(edges)
    asked = np.int64(0)
    for i in range(n):
        asked += edges[i]
    start = below(rng, n) if asked > armies and n else 0
    for i in range(n):
        j = start + i if start + i < n else start + i - n
        edges[j] = min(np.int64(edges[j]), armies)
        armies -= edges[j]
    for i in range(n):
        if edges[i] > 0:
            if orders == room:
                edges[i] = 0
            else:
                orders += 1
    return orders


@jit
def seed_of(state, genes):
    """A seed that follows from the state and the genes, so that the same genes are always repaired alike."""
    word = mix(state.held[0] ^ mix(state.held[1] ^ np.uint64(state.turn)))
    for i in range(len(genes)):
        word = mix(word ^ np.uint64(genes[i]))
    return word


@jit
def repair_each(states, genes, room):
    """Repair each row of genes (n, N + 2E) in place. states: (n,), or (1,) for all rows; room: orders of a move."""
    rng = np.empty(1, np.uint64)
    for i in range(len(genes)):
        state = states[i if len(states) > 1 else 0]
        rng[0] = seed_of(state, genes[i])
        repair(state, player(state), genes[i], rng, room)


@jit
def to_genes_each(states, rows, genes):
    """rows (n, move_length) → genes (n, N + 2E). states: (n,), or (1,) for all rows."""
    for i in range(len(rows)):
        to_genes(states[i if len(states) > 1 else 0], rows[i], genes[i])


@jit
def from_genes_each(states, genes, rows):
    """genes (n, N + 2E) → rows (n, move_length). states: (n,), or (1,) for all rows."""
    for i in range(len(rows)):
        from_genes(states[i if len(states) > 1 else 0], genes[i], rows[i])
