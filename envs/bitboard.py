"""Sets of cells of a board as wide integers, one bit a cell: a numba type with the operators & | ^ ~.

A board's layout follows from its number of 64-bit words, so that every shift is by a constant. A cell is
y * stride + x. On the one-word layout rows touch, and the first and last columns are masked when shifting;
the larger ones keep one unused column between rows instead, which is masked by every board of terrain.
"""

from __future__ import annotations

import operator
from typing import NamedTuple

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from sandtable.envs.jit import jit


class Layout(NamedTuple):
    side: int  # the longest edge of a map
    stride: int
    words: int


LAYOUTS = (Layout(8, 8, 1), Layout(12, 13, 3), Layout(20, 21, 7))
_BY_WORDS = {layout.words: layout for layout in LAYOUTS}
_WORD = ir.IntType(64)


def layout_for(width: int, height: int) -> Layout:
    """The smallest layout that holds a map of this size."""
    for layout in LAYOUTS:
        if max(width, height) <= layout.side:
            return layout
    side = LAYOUTS[-1].side
    raise ValueError(f"a board of {width}x{height} cells: at most {side}x{side} are supported")


class BoardType(types.Type):
    """A set of cells in `words` 64-bit words."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.layout = _BY_WORDS[words]
        self.bits = ir.IntType(64 * words)
        super().__init__(name=f"Board({words})")


@register_model(BoardType)
class _BoardModel(models.PrimitiveModel):
    def __init__(self, manager, board):
        super().__init__(manager, board, board.bits)


def _operator(function, instruction):
    """Make `function` work on two boards of one layout."""

    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and isinstance(args[0], BoardType) and args[0] == args[1]:
                return signature(args[0], *args)
            return None

    @lower_builtin(function, BoardType, BoardType)
    def _lower(context, builder, sig, args):
        return getattr(builder, instruction)(*args)


for _function, _instruction in (
    (operator.and_, "and_"),
    (operator.or_, "or_"),
    (operator.xor, "xor"),
    (operator.iand, "and_"),
    (operator.ior, "or_"),
    (operator.ixor, "xor"),
):
    _operator(_function, _instruction)


@infer_global(operator.invert)
class _InvertTyping(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], *args) if isinstance(args[0], BoardType) else None


@lower_builtin(operator.invert, BoardType)
def _lower_invert(context, builder, sig, args):
    return builder.not_(args[0])


def _row_pointer(context, builder, boards, value, index):
    """The address of row `index` of a record's field `boards`, an array of shape (rows, words)."""
    data = context.make_array(boards)(context, builder, value).data
    words = builder.bitcast(data, _WORD.as_pointer())
    return builder.gep(words, [builder.mul(index, ir.Constant(index.type, boards.shape[1]))])


def _widened(builder, board, cell):
    """A 64-bit number in the width of the board."""
    return builder.zext(cell, board.bits) if board.words > 1 else cell


@intrinsic
def load(context, boards, index):
    """load(state.boards, i): the i-th board of a record."""
    board = BoardType(boards.shape[1])

    def generate(context, builder, sig, args):
        pointer = _row_pointer(context, builder, boards, *args)
        return builder.load(builder.bitcast(pointer, board.bits.as_pointer()), align=8)

    return board(boards, types.int64), generate


@intrinsic
def store(context, boards, index, board):
    """store(state.boards, i, board): write the i-th board of a record."""

    def generate(context, builder, sig, args):
        pointer = _row_pointer(context, builder, boards, args[0], args[1])
        builder.store(args[2], builder.bitcast(pointer, board.bits.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(boards, types.int64, board), generate


@intrinsic
def empty(context, boards):
    """empty(state.boards): the board without cells, of the record's layout."""
    board = BoardType(boards.shape[1])
    return board(boards), lambda context, builder, sig, args: ir.Constant(board.bits, 0)


@intrinsic
def stride(context, boards):
    """stride(state.boards): how many cells lie between a cell and the one below it."""
    layout = _BY_WORDS[boards.shape[1]]
    return types.int64(boards), lambda context, builder, sig, args: ir.Constant(_WORD, layout.stride)


@intrinsic
def only(context, boards, cell):
    """only(state.boards, cell): the board of this one cell."""
    board = BoardType(boards.shape[1])

    def generate(context, builder, sig, args):
        return builder.shl(ir.Constant(board.bits, 1), _widened(builder, board, args[1]))

    return board(boards, types.int64), generate


@intrinsic
def has(context, board, cell):
    """Whether the cell belongs to the board."""

    def generate(context, builder, sig, args):
        return builder.trunc(builder.lshr(args[0], _widened(builder, board, args[1])), ir.IntType(1))

    return types.boolean(board, types.int64), generate


@intrinsic
def is_empty(context, board):
    return types.boolean(board), lambda context, builder, sig, args: builder.icmp_unsigned(
        "==", args[0], ir.Constant(board.bits, 0)
    )


@intrinsic
def count(context, board):
    """How many cells."""

    def generate(context, builder, sig, args):
        ones = builder.ctpop(args[0])
        return builder.trunc(ones, _WORD) if board.words > 1 else ones

    return types.int64(board), generate


@intrinsic
def lowest(context, board):
    """The first cell; the board must not be empty."""

    def generate(context, builder, sig, args):
        zeros = builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.trunc(zeros, _WORD) if board.words > 1 else zeros

    return types.int64(board), generate


@intrinsic
def without_lowest(context, board):
    """The board less its first cell."""

    def generate(context, builder, sig, args):
        return builder.and_(args[0], builder.sub(args[0], ir.Constant(board.bits, 1)))

    return board(board), generate


@intrinsic
def neighbours(context, board):
    """The cells next to the board's cells, in four directions (on padded layouts also unused ones)."""
    layout = board.layout

    def generate(context, builder, sig, args):
        def constant(value):
            return ir.Constant(board.bits, value)

        left = right = args[0]
        if layout.side == layout.stride:
            columns = [sum(1 << (y * layout.stride + x) for y in range(layout.side)) for x in (0, layout.side - 1)]
            left = builder.and_(args[0], builder.not_(constant(columns[0])))
            right = builder.and_(args[0], builder.not_(constant(columns[1])))
        sideways = builder.or_(builder.lshr(left, constant(1)), builder.shl(right, constant(1)))
        stride = constant(layout.stride)
        return builder.or_(sideways, builder.or_(builder.lshr(args[0], stride), builder.shl(args[0], stride)))

    return board(board), generate


@intrinsic
def _low_word(context, board):
    return types.uint64(
        board
    ), lambda context, builder, sig, args: builder.trunc(args[0], _WORD) if board.words > 1 else args[0]


@intrinsic
def _drop_word(context, board):
    return (
        board(board),
        lambda context, builder, sig, args: (
            builder.lshr(args[0], ir.Constant(board.bits, 64)) if board.words > 1 else ir.Constant(board.bits, 0)
        ),
    )


@intrinsic
def _popcount(context, word):
    return types.int64(types.uint64), lambda context, builder, sig, args: builder.ctpop(args[0])


@jit
def nth(board, n):
    """The n-th cell, counted from 0; the board must have more than n cells."""
    base = 0
    word = _low_word(board)
    ones = _popcount(word)
    while n >= ones:
        n -= ones
        base += 64
        board = _drop_word(board)
        word = _low_word(board)
        ones = _popcount(word)
    for shift in (32, 16, 8, 4, 2, 1):
        ones = _popcount(word & ((types.uint64(1) << types.uint64(shift)) - types.uint64(1)))
        if n >= ones:
            n -= ones
            base += shift
            word >>= types.uint64(shift)
    return base
