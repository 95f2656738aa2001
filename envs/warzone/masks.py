"""Sets of territories as 64-bit words, one bit a territory."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sandtable.envs.jit import jit

ONE = np.uint64(1)


@intrinsic
def count(context, mask):
    """How many territories there are."""
    return types.int64(types.uint64), lambda context, builder, sig, args: builder.ctpop(args[0])


@intrinsic
def lowest(context, mask):
    """The first territory of a set that is not empty."""
    return types.int64(types.uint64), lambda context, builder, sig, args: builder.cttz(
        args[0], ir.Constant(ir.IntType(1), 1)
    )


@jit
def without_lowest(mask):
    return mask & (mask - ONE)


@jit
def only(territory):
    """The set of one territory."""
    return ONE << np.uint64(territory)


@jit
def has(mask, territory):
    return (mask >> np.uint64(territory)) & ONE != 0


@jit
def nth(mask, n):
    """The n-th territory, counted from 0; there must be more than n."""
    for _ in range(n):
        mask &= mask - ONE
    return lowest(mask)
