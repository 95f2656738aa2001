"""How fast everything is, single thread, median of several runs, beside the figures it is compared with.

python benchmarks/speed.py [--only PATTERN] [--json FILE]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import sandtable
from sandtable.encoders.features.registry import encoder_names
from sandtable.envs.game import play_each, random_game_each, random_move_each
from sandtable.envs.randomness import seeds_from
from sandtable.envs.warzone.rules import resolve_each

ROOT = Path(__file__).resolve().parent.parent
RUNS = 5
MAP = "li-symmetric"
ORIGINAL = "the original, C#"
LI = "Li 2022"
WARZONE_MAP = "owl_island"
FEATURE_MAPS = {"tubstap": MAP, "warzone": WARZONE_MAP}
RESEARCH = "the research code, Python"
# The program of Bauer 2024 and Soares 2025 on one thread, per CPU-second: turns resolved, random games, rounds of 20
# rollouts (a decision has 300), and generations of 2 × 900 pairs, for it lets each population meet the other by itself.
RESEARCH_SPEED = {
    "simple": (46_700, 834, 48, 0.68),
    "owl_island": (30_500, 649, 37, 0.65),
    "banana": (30_900, 646, 37, 0.69),
    "italy": (21_000, 464, 26, 0.57),
}
RESEARCH_ROUNDS, RESEARCH_TURN_LIMIT = 300, 300
# A network with its features; the games that its paper plays.
GCN_BATCH, KIMURA_BATCH, SOARES_BATCH = 256, 64, 900
PLAIN_PYG, PLAIN_TORCH = "PyTorch Geometric, in the same run", "the same layers in plain PyTorch, in the same run"
NETWORK_ALONE = "the network alone, in the same run"
PV_GAMES = 64
PLAIN_KIMURA = """
import sys, time
from statistics import median
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for _ in range(2):
            layers += [nn.Conv2d(128, 128, 3, padding=1, groups=128, bias=False), nn.Conv2d(128, 128, 1, bias=False)]
            layers += [nn.BatchNorm2d(128), nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1])
    def forward(self, x):
        return torch.relu(self.layers(x) + x)

def cells():
    return nn.Sequential(nn.Conv2d(128, 32, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU())

torch.set_num_threads(1)
first = nn.Sequential(nn.Conv2d(5, 128, 3, padding=1, bias=False), nn.BatchNorm2d(128), nn.ReLU())
trunk = nn.Sequential(first, *(Block() for _ in range(8))).eval()
policy, value_cells = nn.Sequential(cells(), nn.Conv2d(32, 5, 1)).eval(), cells().eval()
value = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 1), nn.Tanh())
planes, seconds = torch.rand(int(sys.argv[1]), 5, 6, 6), []
with torch.inference_mode():
    for _ in range(21):
        start = time.process_time()
        x = trunk(planes)
        policy(x)
        seen = value_cells(x).flatten(2)
        value(torch.cat([seen.mean(2), seen.amax(2)], 1))
        seconds.append(time.process_time() - start)
print(len(planes) / median(seconds[1:]))
"""
RESEARCH_EVALUATIONS = 1_360
EVERYBODY = ("muct:sims=20", "mcts:sims=20", "pmc:rollouts=1", "greedy", "random")


class Measure(NamedTuple):
    """A figure, and what it is compared with."""

    unit: str
    run: Callable[[], float]
    than: tuple[str, float] | None = None
    smaller_is_better: bool = False
    runs: int = RUNS


@lru_cache
def _random_play(name: str, map_: str, games: int, **options: Any) -> tuple[float, float]:
    """Games of the game's random moves (TUBSTAP: uniform over all legal ones): (moves/s, games/s), the medians of the
    same runs."""
    game = sandtable.make_game(name, map=map_, **options)
    starts = game.new(games, seed=1)
    seeds, lengths = seeds_from(2, games), np.zeros(games, np.int64)
    move = np.empty(game.move_length, np.int16)
    seconds = []
    for _ in range(1 + RUNS):
        states = starts.copy()
        start = time.perf_counter()
        random_game_each(states, seeds, 100_000, move, lengths)
        seconds.append(time.perf_counter() - start)
    middle = median(seconds[1:])
    return lengths.sum() / middle, games / middle


def _turns(map_: str, states_a_depth: int = 400, depths: int = 10, rounds: int = 200) -> Callable[[], float]:
    """Turns/s of Warzone: two prepared random moves resolved on fresh copies of states from all over random games."""
    game = sandtable.make_game("warzone", map=map_)
    starts = game.new(states_a_depth, seed=1)
    states = np.concatenate([game.random_games(starts, seed=depth, plies=2 * depth) for depth in range(depths)])
    states = states[~game.done(states)]
    rows = np.empty((2, len(states), game.move_length), np.int16)
    waiting = states.copy()
    for side in (0, 1):
        random_move_each(waiting, seeds_from(side, len(states)), rows[side])
        if side == 0:
            play_each(waiting, rows[0])
    coins, fresh = np.full(len(states), -1), states.copy()
    resolve_each(fresh, rows[0], rows[1], coins)

    def run() -> float:
        start = time.perf_counter()
        for _ in range(rounds):
            fresh[:] = states
            resolve_each(fresh, rows[0], rows[1], coins)
        return rounds * len(states) / (time.perf_counter() - start)

    return run


def _decision(spec: str, name: str = "tubstap", map_: str = MAP) -> Callable[[], float]:
    """Seconds for one decision at the start."""
    game = sandtable.make_game(name, map=map_)
    states = game.new(1, seed=1)
    agent = sandtable.make_agent(spec)
    agent.reset(game, seed=1)
    agent.act(states)

    def run() -> float:
        start = time.perf_counter()
        agent.act(states)
        return time.perf_counter() - start

    return run


def _simulations(agent: str, sims: int) -> Callable[[], float]:
    decide = _decision(f"{agent}:sims={sims}")
    return lambda: sims / decide()


def _generations(map_: str, generations: int = 20) -> Callable[[], float]:
    """Generations/s of co-evolution in Warzone, 30 against 30 by material."""
    decide = _decision(f"ga:generations={generations},population=30,value=material", "warzone", map_)
    return lambda: generations / decide()


def _milliseconds(spec: str, name: str = "tubstap", map_: str = MAP) -> Callable[[], float]:
    decide = _decision(spec, name, map_)
    return lambda: 1e3 * decide()


def _legal(mask: np.ndarray, rng: np.random.Generator) -> int:
    actions = mask.nonzero()[0]
    return actions[int(rng.random() * len(actions))]


def _action(space: Any, info: dict[str, Any], rng: np.random.Generator) -> Any:
    """A random action; where there is no mask, all are legal."""
    return _legal(info["action_mask"], rng) if "action_mask" in info else rng.integers(0, space.nvec)


def _gym_steps(id_: str, steps: int = 10_000, **options: Any) -> float:
    """Steps/s of gym.make with its usual wrappers, observation, mask and a random opponent."""
    env = gymnasium.make(id_, **options)
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    env.step(_action(env.action_space, info, rng))
    _, info = env.reset(seed=1)
    start = time.perf_counter()
    for _ in range(steps):
        _, _, over, _, info = env.step(_action(env.action_space, info, rng))
        if over:
            _, info = env.reset()
    return steps / (time.perf_counter() - start)


def _aec_steps(steps: int = 10_000) -> float:
    """Steps/s of the PettingZoo environment in its usual wrappers, with observation and mask."""
    env = sandtable.tubstap.env(map=MAP)
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    env.last()
    start = time.perf_counter()
    done = 0
    while done < steps:
        env.reset()
        for _ in env.agent_iter():
            observation, _, over, _, _ = env.last()
            env.step(None if over else _legal(observation["action_mask"], rng))
            done += not over
    return done / (time.perf_counter() - start)


def _actions(space: Any, info: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    """The same in every game of a batch."""
    if "action_mask" not in info:
        return rng.integers(0, space.high + 1)
    return (rng.random(info["action_mask"].shape, np.float32) * info["action_mask"]).argmax(1)


def _vector_steps(id_: str, num_envs: int = 1_024, steps: int = 100, **options: Any) -> float:
    """Steps/s of the batch environment, observations and masks included, the choice of actions not."""
    env = gymnasium.make_vec(id_, num_envs=num_envs, **options)
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    seconds = 0.0
    for _ in range(steps):
        actions = _actions(env.action_space, info, rng)
        start = time.perf_counter()
        _, _, _, _, info = env.step(actions)
        seconds += time.perf_counter() - start
    return num_envs * steps / seconds


def _first_move(cache: str) -> float:
    """Seconds from starting evaluate.py to the end of a tournament of two games with every agent of the table."""
    command = [sys.executable, "evaluate.py", "--map", MAP, "--games", "2", "--workers", "1", "--quiet"]
    command += ["--option", "turn_limit=1", "--agents", *EVERYBODY]
    start = time.perf_counter()
    subprocess.run(
        command, cwd=ROOT, env={**os.environ, "SANDTABLE_CACHE": cache}, check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - start


def _cold_compile() -> float:
    with tempfile.TemporaryDirectory() as folder:
        return _first_move(folder)


def _warm_start() -> float:
    with tempfile.TemporaryDirectory() as folder:
        _first_move(folder)
        return _first_move(folder)


def _import() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import sandtable"], cwd=ROOT, check=True)
    return time.perf_counter() - start


def _features(name: str, states: int = 2_000, rounds: int = 20) -> Callable[[], float]:
    """States/s of an encoder, on states from all over random games."""
    kind = next(kind for kind in FEATURE_MAPS if name in encoder_names(kind))
    game = sandtable.make_game(kind, map=FEATURE_MAPS[kind])
    starts = game.new(states // 10, seed=1)
    batch = np.concatenate([game.random_games(starts, seed=plies, plies=plies) for plies in range(10)])
    encoder = sandtable.make_encoder(name, game)
    encoder.encode(batch)

    def run() -> float:
        start = time.perf_counter()
        for _ in range(rounds):
            encoder.encode(batch)
        return rounds * len(batch) / (time.perf_counter() - start)

    return run


def _action_features(states: int = 2_000, rounds: int = 10) -> Callable[[], float]:
    """Moves/s that are told to a policy, the listing of legal moves included."""
    game = sandtable.make_game("tubstap", map=MAP)
    batch = game.random_games(game.new(states, seed=1), seed=1, plies=4)
    encoder: Any = sandtable.make_encoder("tubstap-units", game)
    encoder.actions(batch, *game.moves_each(batch))

    def run() -> float:
        moves, start = 0, time.perf_counter()
        for _ in range(rounds):
            rows, ends = game.moves_each(batch)
            encoder.actions(batch, rows, ends)
            moves += len(rows)
        return moves / (time.perf_counter() - start)

    return run


def _rate(run: Callable[[], Any], n: int, runs: int = 20) -> float:
    """How many of n a second of the processor's time, the median of some short runs: on a busy machine too."""
    import torch

    torch.set_num_threads(1)
    run()
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return n / median(seconds)


def _positions(name: str, map_: str, n: int, plies: int = 6) -> tuple[Any, np.ndarray]:
    """A game and n positions of random play."""
    game = sandtable.make_game(name, map=map_)
    return game, game.random_games(game.new(n, seed=1), seed=2, plies=plies)


def _evaluations(network: str, name: str, map_: str, n: int) -> Callable[[], float]:
    """Positions/s that a network evaluates, n at a time, features included."""
    game, states = _positions(name, map_, n)
    net = sandtable.make_network(network, game).eval()
    return lambda: _rate(lambda: net.values(game, states), n)


def _pyg_evaluations(map_: str, n: int) -> float:
    """Positions/s of the layers of takahashi-gcn in PyTorch Geometric, without the features."""
    import torch
    from torch_geometric.nn import NNConv, global_max_pool

    game, states = _positions("tubstap", map_, n)
    batch = sandtable.make_encoder("takahashi-graph", game).to_pyg(states)
    layers = [
        NNConv(inputs, 64, torch.nn.Linear(4, inputs * 64), aggr="mean") for inputs in (batch.x.shape[1], 64, 64, 64)
    ]
    out = torch.nn.Linear(64, 3)

    @torch.inference_mode()
    def run() -> None:
        x = batch.x
        for layer in layers:
            x = layer(x, batch.edge_index, batch.edge_attr).relu_()
        out(global_max_pool(x, batch.batch)).softmax(-1)

    return _rate(run, n, 5)


def _plain_kimura(n: int) -> float:
    """Positions/s of the layers of kimura as torch does them by itself, without the features: in NCHW memory, the norms
    apart. In a process of its own, for ours also changes how memory is kept."""
    done = subprocess.run(
        [sys.executable, "-c", PLAIN_KIMURA, str(n)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def _network_measures() -> Iterator[tuple[str, Callable[[], Measure]]]:
    """What is compared with is measured in the same run: on a busy machine only the ratio means something."""
    map_, kimura_map = "takahashi-complex", "kimura-map01"
    yield (
        "net.gcn_evals",
        lambda: Measure(
            "positions/s",
            _evaluations("takahashi-gcn", "tubstap", map_, GCN_BATCH),
            (PLAIN_PYG, round(_pyg_evaluations(map_, GCN_BATCH))),
        ),
    )
    yield (
        "net.kimura_evals",
        lambda: Measure(
            "positions/s",
            _evaluations("kimura", "tubstap", kimura_map, KIMURA_BATCH),
            (PLAIN_TORCH, round(_plain_kimura(KIMURA_BATCH))),
        ),
    )
    yield (
        "net.soares_evals",
        lambda: Measure(
            "positions/s",
            _evaluations("soares", "warzone", WARZONE_MAP, SOARES_BATCH),
            (RESEARCH, RESEARCH_EVALUATIONS),
        ),
    )
    yield "net.units_evals", lambda: Measure("positions/s", _evaluations("units", "tubstap", MAP, GCN_BATCH))


def _network_speed(network: str, name: str, map_: str, n: int) -> Callable[[], float]:
    """Positions/s that a network judges with its policy, n at a time, moves listed and features included: those that
    the search of the same games met."""
    game, states = _searched(name, map_, n)
    net = sandtable.make_network(network, game).eval()
    return lambda: _rate(lambda: net.evaluate(game, states, *game.moves_each(states)), n)


def _searched(name: str, map_: str, n: int) -> tuple[Any, np.ndarray]:
    """A game and n positions a move or two from its starts, as leaves of a search are."""
    game = sandtable.make_game(name, map=map_)
    return game, game.random_games(game.new(n, seed=1), seed=2, plies=2)


def _pv_simulations(network: str | None, name: str, map_: str, games: int, leaves: int, sims: int) -> float:
    """Simulations/s of the tree search with a network, so many games side by side."""
    from sandtable.agents.pvmcts import Search, SearchOptions

    game = sandtable.make_game(name, map=map_)
    net = None if network is None else sandtable.make_network(network, game).eval()
    search = Search(game, net, SearchOptions(leaves=leaves))
    states, seeds = game.new(games, seed=1), np.arange(games, dtype=np.uint64)
    return _rate(lambda: search.run(states, seeds, sims), games * sims, 5)


def _pv_measures() -> Iterator[tuple[str, Callable[[], Measure]]]:
    """Games side by side with the network's own speed beside them; one game, several leaves at once; no network."""
    for name, map_, network in (
        ("tubstap", "kimura-map01", "units"),
        ("tubstap", MAP, "units"),
        ("tubstap", "kimura-map01", "kimura"),
        ("warzone", WARZONE_MAP, "soares"),
    ):
        sims = 30 if network == "kimura" else 100
        yield (
            f"pvmcts.sims.{network}.{map_}",
            lambda name=name, map_=map_, network=network, sims=sims: Measure(
                "simulations/s",
                lambda: _pv_simulations(network, name, map_, PV_GAMES, 1, sims),
                (NETWORK_ALONE, round(_network_speed(network, name, map_, PV_GAMES)())),
            ),
        )
        yield (
            f"pvmcts.one_game.{network}.{map_}",
            lambda name=name, map_=map_, network=network, sims=sims: Measure(
                "simulations/s", lambda: _pv_simulations(network, name, map_, 1, 8, 5 * sims)
            ),
        )
    yield (
        f"pvmcts.no_network.{MAP}",
        lambda: Measure("simulations/s", lambda: _pv_simulations(None, "tubstap", MAP, PV_GAMES, 1, 200)),
    )


def _search_memory() -> float:
    """MB that a search of 2,000 simulations holds."""
    game = sandtable.make_game("tubstap", map=MAP)
    agent: Any = sandtable.make_agent("mcts:sims=2000")
    agent.reset(game, seed=1)
    agent.act(game.new(1, seed=1))
    return sum(array.nbytes for tree in agent._trees for array in vars(tree).values() if hasattr(array, "nbytes")) / 1e6


def measures() -> Iterator[tuple[str, Callable[[], Measure]]]:
    """Every figure by name; what it needs is set up only when it is asked for."""
    yield (
        "tubstap.random_actions",
        lambda: Measure("unit actions/s", lambda: _random_play("tubstap", MAP, 20_000)[0], (ORIGINAL, 194_000), runs=1),
    )
    yield (
        "tubstap.random_games",
        lambda: Measure("games/s", lambda: _random_play("tubstap", MAP, 20_000)[1], (ORIGINAL, 2_116), runs=1),
    )
    yield (
        "tubstap.random_actions.skirmish",
        lambda: Measure(
            "unit actions/s",
            lambda: _random_play("tubstap", "skirmish", 10_000)[0],
            (f"{ORIGINAL}, 6v6", 121_000),
            runs=1,
        ),
    )
    yield (
        "tubstap.random_actions.crossroads",
        lambda: Measure("unit actions/s", lambda: _random_play("tubstap", "crossroads", 2_000)[0], None, runs=1),
    )
    yield (
        "tubstap.muct_rollouts",
        lambda: Measure("rollouts/s", _simulations("muct", 20_000), (ORIGINAL, 8_417)),
    )
    yield (
        "tubstap.mcts200_ms",
        lambda: Measure("ms", _milliseconds("mcts:sims=200"), (LI, 5_340), True, 21),
    )
    yield ("tubstap.gym_steps", lambda: Measure("steps/s", lambda: _gym_steps("Tubstap-v0", map=MAP)))
    yield ("tubstap.aec_steps", lambda: Measure("steps/s", _aec_steps))
    yield ("tubstap.vector_steps", lambda: Measure("steps/s", lambda: _vector_steps("Tubstap-v0", map=MAP)))
    for map_, speed in RESEARCH_SPEED.items():
        yield from _warzone_measures(map_, *speed)
    # Genes, the default: a step is a whole turn, and the opponent's. Orders: a step is a part of a move.
    yield from _warzone_steps("", map=WARZONE_MAP, action="genes")
    yield from _warzone_steps(".orders", map=WARZONE_MAP, action="orders")
    for encoder in encoder_names():
        yield f"features.{encoder}", lambda encoder=encoder: Measure("states/s", _features(encoder))
    yield ("features.tubstap-units.actions", lambda: Measure("moves/s", _action_features()))
    yield from _network_measures()
    yield from _pv_measures()
    yield ("start.import_s", lambda: Measure("s", _import, None, True))
    yield ("start.cold_compile_s", lambda: Measure("s", _cold_compile, None, True, 1))
    yield ("start.warm_evaluate_s", lambda: Measure("s", _warm_start, None, True, 3))
    yield ("tubstap.search_memory_mb", lambda: Measure("MB", _search_memory, None, True, 1))


def _warzone_measures(
    map_: str, turns: float, games: float, rounds: float, generations: float
) -> Iterator[tuple[str, Callable[[], Measure]]]:
    """What the research code was measured at on a map, and its figures.

    Its random games ended after 300 turns at the latest; ours are given the same limit here.
    """
    yield f"warzone.turns.{map_}", lambda: Measure("turns/s", _turns(map_), (RESEARCH, turns))
    yield (
        f"warzone.random_games.{map_}",
        lambda: Measure(
            "games/s",
            lambda: _random_play("warzone", map_, 2_000, turn_limit=RESEARCH_TURN_LIMIT)[1],
            (RESEARCH, games),
            runs=1,
        ),
    )
    yield (
        f"warzone.mcts300_ms.{map_}",
        lambda: Measure(
            "ms",
            _milliseconds("mcts:preset=soares2025", "warzone", map_),
            (RESEARCH, round(1e3 * RESEARCH_ROUNDS / rounds)),
            True,
        ),
    )
    yield (
        f"warzone.ga_generations.{map_}",
        lambda: Measure("generations/s", _generations(map_), (RESEARCH, generations)),
    )


def _warzone_steps(ending: str, **options: Any) -> Iterator[tuple[str, Callable[[], Measure]]]:
    yield f"warzone.gym_steps{ending}", lambda: Measure("steps/s", lambda: _gym_steps("Warzone-v0", **options))
    yield f"warzone.vector_steps{ending}", lambda: Measure("steps/s", lambda: _vector_steps("Warzone-v0", **options))


def row(name: str, measure: Measure) -> dict[str, Any]:
    """The median of the runs, and how many times better that is than what it is compared with."""
    value = median(measure.run() for _ in range(measure.runs))
    than, ratio = None, None
    if measure.than is not None:
        than = f"{measure.than[0]}: {measure.than[1]:,}"
        ratio = measure.than[1] / value if measure.smaller_is_better else value / measure.than[1]
    return {"name": name, "value": value, "unit": measure.unit, "than": than, "ratio": ratio}


def _text(entry: dict[str, Any]) -> str:
    value = f"{entry['value']:,.0f}" if entry["value"] >= 1_000 else f"{entry['value']:.3g}"
    against = f"{entry['ratio']:,.0f} times {entry['than']}" if entry["ratio"] else ""
    return f"{entry['name']:36} {value:>14} {entry['unit']:15} {against}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure speeds, single thread, median of several runs.")
    parser.add_argument("--only", metavar="PATTERN", default="*", help="names to measure, such as 'tubstap.*_steps'")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures into this file as well")
    args = parser.parse_args()
    chosen = [(name, make) for name, make in measures() if fnmatch(name, args.only) or args.only in name]
    if not chosen:
        names = ", ".join(name for name, _ in measures())
        parser.error(f"--only {args.only}: no such figure; there are {names}")
    entries = []
    for name, make in chosen:
        entries.append(row(name, make()))
        print(_text(entries[-1]), flush=True)
    if args.json:
        beside = args.json.with_name(args.json.name + ".part")
        beside.write_text(json.dumps(entries, indent=1) + "\n")
        beside.replace(args.json)


if __name__ == "__main__":
    main()
