"""Random numbers inside compiled code: splitmix64 in an array of one word, so that a seed repeats a game exactly."""

from __future__ import annotations

import operator

import numpy as np

from sandtable.envs.jit import jit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32), np.uint64(11)


@jit
def mix(word):
    """A word that looks unrelated to `word`: a hash, and the output of the generator."""
    word = (word ^ (word >> _30)) * _MIX_1
    word = (word ^ (word >> _27)) * _MIX_2
    return word ^ (word >> _31)


@jit
def random_word(rng):
    """The next 64 random bits. rng (1,) uint64 is the generator's state and is moved on."""
    rng[0] += _STEP
    return mix(rng[0])


@jit
def below(rng, n):
    """A random whole number from 0 to n - 1; n must be below 2**32."""
    return np.int64(((random_word(rng) >> _32) * np.uint64(n)) >> _32)


@jit
def uniform(rng):
    """A random number in [0, 1)."""
    return np.float64(random_word(rng) >> _11) * (1.0 / 9007199254740992.0)


def seeds_from(seed: int | None, n: int) -> np.ndarray:
    """n unrelated seeds (n,) uint64; without a seed, fresh ones."""
    if seed is not None:
        try:
            seed = operator.index(seed)
        except TypeError:
            raise TypeError(f"a seed is a whole number, got {seed!r}") from None
        if seed < 0:
            raise ValueError(f"a seed is a whole number of at least 0, got {seed}")
    return np.random.SeedSequence(seed).generate_state(n, np.uint64)
