"""A move put together order by order, compiled.

A draft is a row like a move's with the orders chosen so far; zeros are an empty one. What may be ordered next is judged
on the board as it would be if the drafted orders ran and the other player did nothing: land that they take can send
armies on, where the rules allow that. Orders are numbered like genes (see genes.py), with three amounts each:

- few: one army; against foreign land, the fewest that take it as it stands;
- half of the rest, rounded up;
- all of the rest.

The rest is what is left of the income (deploys) or what the source has left (sends). An amount that is the same as
another one is legal only once, as the first of them.
"""

from __future__ import annotations

import numpy as np

from sandtable.envs.duel import ENDED, REFUSED, TAKEN
from sandtable.envs.jit import jit
from sandtable.envs.warzone.masks import has
from sandtable.envs.warzone.playouts import set_order
from sandtable.envs.warzone.rules import deploys, done, income, least_to_capture, player, resolve
from sandtable.envs.warzone.state import MAX_ORDER, ORDER_MASK, ORDER_SHIFT

END = 0
"""The action that ends a move."""
AMOUNTS = 3
FEW, HALF, ALL = range(AMOUNTS)


@jit
def left_to_deploy(state, draft):
    """How much of the mover's income is not deployed yet."""
    left = income(state, player(state))
    for i in range(deploys(draft)):
        left -= draft[2 + 2 * i]
    return left


@jit
def imagine(state, draft, nothing, board):
    """Let the drafted orders run on a copy of the state, board (1,). nothing: a row of zeros."""
    board[0] = state
    side = player(state)
    if side == 0:
        resolve(board[0], draft, nothing, 0)
    else:
        resolve(board[0], nothing, draft, 1)


@jit
def fill_rests(state, draft, board, rests):
    """How many armies each territory (n,) can still send. board (1,): what `imagine` wrote."""
    side = player(state)
    own = board[0].held[side] if state.multi_attack else state.held[side]
    for i in range(state.territories):
        rests[i] = 0
        if has(own, i):
            rests[i] = board[0].armies[i] if state.multi_attack else state.armies[i]
    if state.multi_attack:
        return
    # Every army moves once: what stood there after the deploys and was not sent.
    for i in range(draft[0]):
        source, destination = draft[1 + 2 * i] >> ORDER_SHIFT, draft[1 + 2 * i] & ORDER_MASK
        rests[source] += draft[2 + 2 * i] if source == destination else -draft[2 + 2 * i]


@jit
def _amount(kind, rest, few):
    """The armies of an order, or 0 if it is not legal."""
    half = (rest + 1) // 2
    if kind == FEW:
        armies = few if few <= rest else 0
    elif kind == HALF:
        armies = half if half != few and half != rest else 0
    else:
        armies = rest if rest != few else 0
    return min(armies, MAX_ORDER)


@jit
def _few(board, side, source, destination):
    """The fewest armies that it makes sense to order."""
    if source == destination or has(board.held[side], destination):
        return np.int64(1)
    return least_to_capture(np.int64(board.armies[destination]))


@jit
def _rest_of(state, draft, source, destination, left, rests, sends):
    """The armies that an order may use at most, 0 if it may not be given at all. sends: the most in a move."""
    if source == destination:
        return left if has(state.held[player(state)], source) else 0
    return rests[source] if draft[0] - deploys(draft) < sends else 0


@jit
def _armies_of(state, draft, action, ends, left, rests, sends, board):
    """The armies that an action other than END orders, or 0 if it is not legal."""
    gene, kind = (action - 1) // AMOUNTS, (action - 1) % AMOUNTS
    source, destination = ends[gene, 0], ends[gene, 1]
    rest = _rest_of(state, draft, source, destination, left, rests, sends)
    return _amount(kind, rest, _few(board[0], player(state), source, destination))


@jit
def mask_each(states, drafts, idle, ends, sends, masks):
    """Write 1 for every legal action into masks (b, actions). ends (genes, 2): source and destination."""
    board, nothing, rests = _room(states, drafts)
    for i in range(len(states)):
        state, draft = states[i], drafts[i]
        if idle[i] or done(state):
            continue
        imagine(state, draft, nothing, board)
        fill_rests(state, draft, board, rests)
        left = left_to_deploy(state, draft)
        masks[i, END] = left == 0
        for action in range(1, masks.shape[1]):
            masks[i, action] = _armies_of(state, draft, action, ends, left, rests, sends, board) > 0


@jit
def _room(states, drafts):
    """A board, a move without orders and numbers for every territory, to be written over."""
    return states[:1].copy(), np.zeros(drafts.shape[1], np.int16), np.empty(len(states[0].armies), np.int64)


@jit
def _judge(state, draft, action, ends, sends, board, nothing, rests):
    """The armies that an action orders, 0 if it ends the move and -1 if it is not legal."""
    if done(state) or not 0 <= action <= AMOUNTS * len(ends):
        return -1
    left = left_to_deploy(state, draft)
    if action == END:
        return 0 if left == 0 else -1
    imagine(state, draft, nothing, board)
    fill_rests(state, draft, board, rests)
    armies = _armies_of(state, draft, action, ends, left, rests, sends, board)
    return armies if armies > 0 else -1


@jit
def legal_each(states, drafts, actions, ends, sends, out):
    """Whether each of actions (b,) is legal."""
    board, nothing, rests = _room(states, drafts)
    for i in range(len(states)):
        out[i] = _judge(states[i], drafts[i], actions[i], ends, sends, board, nothing, rests) >= 0


@jit
def take_each(states, drafts, which, actions, ends, sends, out):
    """Write actions (k,) into the drafts of the games `which` (k,); out: REFUSED (if illegal), TAKEN or ENDED."""
    board, nothing, rests = _room(states, drafts)
    for i in range(len(which)):
        state, draft = states[which[i]], drafts[which[i]]
        armies = _judge(state, draft, actions[i], ends, sends, board, nothing, rests)
        out[i] = REFUSED if armies < 0 else ENDED if armies == 0 else TAKEN
        if armies > 0:
            gene = (actions[i] - 1) // AMOUNTS
            _write(draft, ends[gene, 0], ends[gene, 1], armies)


@jit
def _write(draft, source, destination, armies):
    """Add an order to a draft: a send comes last, a deploy before all sends, added to one to the same place."""
    if source != destination:
        set_order(draft, draft[0], source, destination, armies)
        draft[0] += 1
        return
    n = deploys(draft)
    for i in range(n):
        if draft[1 + 2 * i] & ORDER_MASK == source:
            draft[2 + 2 * i] += armies
            return
    for i in range(2 * np.int64(draft[0]), 2 * n, -1):
        draft[i + 2] = draft[i]
    set_order(draft, n, source, source, armies)
    draft[0] += 1
