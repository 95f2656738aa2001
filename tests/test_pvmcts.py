"""The tree search with a network: against a plain reference, and what each of its options promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import sandtable
from sandtable.agents.pvmcts import JointSearch, Judge, Search, SearchOptions, draw, make_search
from sandtable.encoders.networks.files import save_network
from sandtable.envs.randomness import mix
from tests.reference.pvmcts import Puct, halving

SEEDS = np.arange(1, 100, dtype=np.uint64)


class Oracle:
    """In place of a network: values and logits that follow from the state's key and the number of the move."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.asked: list[int] = []

    def one(self, state: Any, moves: np.ndarray) -> tuple[float, np.ndarray]:
        words = mix(np.uint64(self.game.key(state)) + np.arange(len(moves) + 1, dtype=np.uint64))
        shares = words.astype(np.float64) / 2.0**64
        return float(np.float32(2 * shares[-1] - 1)), (4 * shares[:-1]).astype(np.float32)

    def evaluate(
        self, game: Any, states: np.ndarray, moves: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        self.asked.append(len(states))
        answers = [self.one(states[i], moves[ends[i] : ends[i + 1]]) for i in range(len(states))]
        return np.array([v for v, _ in answers], np.float32), np.concatenate([logits for _, logits in answers])


def make(map_: str = "kimura-map01", name: str = "tubstap", **options: Any) -> Any:
    return sandtable.make_game(name, map=map_, **options)


def searched(game: Any, states: np.ndarray, sims: Any, wild: Any = False, **options: Any) -> Any:
    search = make_search(game, Oracle(game), SearchOptions(**{"leaves": 1, **options}))  # type: ignore[arg-type]
    return search.run(states, SEEDS[: len(states)], sims, wild)


def middle(game: Any, n: int, plies: int = 9) -> np.ndarray:
    states = game.random_games(game.new(4 * n, seed=3), seed=4, plies=plies)
    return states[~game.done(states)][:n]


@pytest.mark.parametrize(
    "options",
    [
        {"c": 1.25, "attack": 0.0, "fpu": 0.2, "trust": 1.0},
        {"c": 0.8, "attack": 3.7, "fpu": -1.0, "trust": 1.0},
        {"c": 2.0, "attack": 0.0, "fpu": 0.0, "trust": 0.75},
    ],
)
@pytest.mark.parametrize("map_", ["kimura-map01", "takahashi-complex"])
def test_visits_are_those_of_the_reference(map_: str, options: dict[str, float]) -> None:
    game = make(map_)
    states = middle(game, 6)
    found = searched(game, states, 60, **options)
    for i, state in enumerate(states):
        expected, value = Puct(game, Oracle(game).one, **options).visits(state, 60)
        assert found.visits[found.ends[i] : found.ends[i + 1]].tolist() == expected
        assert found.values[i] == pytest.approx(value, abs=1e-6)
        assert np.array_equal(found.rows[found.ends[i] : found.ends[i + 1]], game.moves(state))


def test_ends_of_games_are_exact() -> None:
    """A game that can be won at once is won, though nobody says what positions are worth."""
    game = make("kimura-random", rules="kimura2020")
    states = game.random_games(game.new(400, seed=5), seed=6, plies=12)
    won = []
    for state in states[~game.done(states)]:
        ends = [game.outcome(game.play(state, move)) for move in game.moves(state)]
        if max(ends, key=abs) == (1 if game.player(state) == 0 else -1):
            won.append(state)
    assert len(won) >= 5
    states = np.array(won, game.dtype)
    found = Search(game, None, SearchOptions(leaves=1)).run(states, mix(np.arange(len(won), dtype=np.uint64)), 3_000)
    assert (found.values > 0.8).all()  # by this move, or by another that wins a little later


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tubstap", {}),
        ("tubstap", {"gumbel": True}),
        ("tubstap", {"attack": 3.7}),
        ("warzone", {"greedy": True}),
        ("warzone", {"greedy": True, "joint": True}),
    ],
)
def test_games_beside_it_change_nothing(name: str, options: dict[str, Any]) -> None:
    game = make({"tubstap": "li-symmetric", "warzone": "italy"}[name], name)
    states = game.view(middle(game, 5), SEEDS[:5])
    together = searched(game, states, 40, True, **options)
    for i in range(len(states)):
        search = make_search(game, Oracle(game), SearchOptions(leaves=1, **options))  # type: ignore[arg-type]
        alone = search.run(states[i : i + 1], SEEDS[i : i + 1], 40, True)
        part = slice(together.ends[i], together.ends[i + 1])
        assert np.array_equal(alone.visits, together.visits[part])
        assert np.array_equal(alone.policy, together.policy[part])


def test_leaves_of_all_games_are_judged_together() -> None:
    game = make("li-symmetric")
    oracle = Oracle(game)
    search = Search(game, oracle, SearchOptions(leaves=1))  # type: ignore[arg-type]
    search.run(middle(game, 20), SEEDS[:20], 10)
    assert len(oracle.asked) == 11 and max(oracle.asked) == 20 and search.simulations == 11 * 20


def test_leaves_of_one_game_by_virtual_loss() -> None:
    """Several at once, all different, and no simulation lost or doubled; no path counts as lost in the end."""
    game = make("li-symmetric")
    oracle = Oracle(game)
    search = Search(game, oracle, SearchOptions(leaves=8))  # type: ignore[arg-type]
    found = search.run(middle(game, 1), SEEDS[:1], 200)
    assert found.visits.sum() == 200
    assert np.mean(oracle.asked[2:]) > 6
    assert not search._nodes["virtual"][: search._used].any()
    keys = search._nodes["first"][: search._used] >= 0
    assert keys.sum() == sum(oracle.asked)


@pytest.mark.parametrize(("moves", "sims"), [(16, 64), (4, 16), (7, 20), (2, 9), (1, 5), (16, 10)])
def test_halving_follows_its_plan(moves: int, sims: int) -> None:
    game = make("li-symmetric")
    found = searched(game, middle(game, 3), sims, gumbel=True, considered=moves)
    order = halving(moves, sims)
    for i in range(3):
        visits = np.sort(found.visits[found.ends[i] : found.ends[i + 1]])[::-1]
        assert visits.sum() == sims
        assert (visits > 0).sum() == order.count(0)
        assert visits[0] == max(order) + 1


def test_gumbels_policy_prefers_what_turned_out_better() -> None:
    game = make("li-symmetric")
    found = searched(game, middle(game, 8), 64, gumbel=True, sharpness=1.0)
    sums = np.add.reduceat(found.policy, found.ends[:-1])
    np.testing.assert_allclose(sums, 1, atol=1e-5)
    sharp, blunt = (
        searched(game, middle(game, 8), 64, gumbel=True, sharpness=sharpness).policy for sharpness in (3.0, 0.0)
    )
    assert sharp.max() > blunt.max()


def test_noise_only_where_it_is_asked_for() -> None:
    game = make("li-symmetric")
    states = np.repeat(middle(game, 1), 6)
    for options in ({"noise": 0.5, "alpha": 3.0}, {"gumbel": True}):
        wild = np.array([True, False, True, False, True, False])
        found = searched(game, states, 32, wild, **options)
        visits = found.visits.reshape(6, -1)
        assert (visits[1] == visits[3]).all() and (visits[1] == visits[5]).all()
        assert (visits[0] != visits[2]).any() and (visits[0] != visits[1]).any()
        assert np.array_equal(visits, searched(game, states, 32, wild, **options).visits.reshape(6, -1))


def test_dirichlet_noise_has_the_right_spread() -> None:
    """The share of one of m moves has mean 1/m and the variance of a Dirichlet distribution."""
    game = make("kimura-map01")
    states = np.repeat(game.new(1), 4_000)
    search = Search(game, None, SearchOptions(leaves=1, noise=1.0, alpha=5.0))
    found = search.run(states, mix(np.arange(4_000, dtype=np.uint64)), 0, True)
    shares = found.policy.reshape(len(states), -1)
    m = shares.shape[1]
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-4)
    np.testing.assert_allclose(shares.mean(), 1 / m, rtol=1e-4)
    np.testing.assert_allclose(shares.var(), (1 / m) * (1 - 1 / m) / (5.0 + 1), rtol=0.1)


def test_simulations_of_each() -> None:
    game = make("li-symmetric")
    found = searched(game, middle(game, 3), np.array([5, 50, 0]))
    assert [found.visits[a:b].sum() for a, b in zip(found.ends, found.ends[1:], strict=False)] == [5, 50, 0]


def test_a_tree_is_kept_for_the_next_move() -> None:
    game = make("kimura-map01")
    search = Search(game, Oracle(game), SearchOptions(leaves=1))  # type: ignore[arg-type]
    state = game.new(1)
    first = search.run(state, SEEDS[:1], 300, keep=True)
    known = first.visits[first.chosen[0]]
    assert known > 10
    after = game.play(state, first.rows[first.chosen])
    second = search.run(after, SEEDS[:1], 100, keep=True)
    # One visit of the new root was its own judgement.
    assert second.visits.sum() == known - 1 + 100
    fresh = search.run(after, SEEDS[:1], 100)
    assert fresh.visits.sum() == 100
    elsewhere = search.run(middle(game, 1), SEEDS[:1], 100, keep=True)
    assert elsewhere.visits.sum() == 100


def test_symmetries_are_averaged() -> None:
    game = make("li-symmetric")
    network = sandtable.make_network("units", game)
    states = middle(game, 4)
    rows, ends = game.moves_each(states)
    values, logits = Judge(game, network, 8)(states, rows, ends)
    expected = np.mean([network.values(game, game.symmetry(states, k)) for k in range(8)], 0)
    np.testing.assert_allclose(values, expected, atol=1e-5)
    turned = [
        network.logits(game, game.symmetry(states, k), game.symmetry_moves(states, rows, k, ends), ends)
        for k in range(8)
    ]
    np.testing.assert_allclose(logits, np.mean(turned, 0), atol=1e-5)


def test_draws_follow_the_visits() -> None:
    game = make("kimura-map01")
    states = np.repeat(game.new(1), 3_000)
    found = searched(game, states[:1], 100)
    many = type(found)(
        np.tile(found.rows, (3_000, 1)),
        np.arange(3_001) * len(found.rows),
        np.tile(found.visits, 3_000),
        np.tile(found.policy, 3_000),
        np.repeat(found.values, 3_000),
        np.arange(3_000) * len(found.rows) + found.chosen[0],
    )
    seeds = mix(np.arange(3_000, dtype=np.uint64))
    for heat in (1.0, 0.5):
        counts = np.bincount(draw(many, heat, seeds) % len(found.rows), minlength=len(found.rows))
        expected = found.visits ** (1 / heat) / (found.visits ** (1 / heat)).sum()
        np.testing.assert_allclose(counts / 3_000, expected, atol=0.03)
    assert (draw(many, 0.0, seeds) == many.chosen).all()


# Both at once


@pytest.mark.parametrize("leaves", [1, 6])
def test_both_players_choose_at_once(leaves: int) -> None:
    """No simulation is lost, no path counts as lost in the end, and both sides' arms are visited as often."""
    game = make("owl_island", "warzone")
    states = game.view(game.new(4, seed=1), SEEDS[:4])
    search = JointSearch(game, Oracle(game), SearchOptions(leaves=leaves, joint=True))  # type: ignore[arg-type]
    found = search.run(states, SEEDS[:4], 150)
    assert (np.add.reduceat(found.visits, found.ends[:-1]) == 150).all()
    assert not search._nodes["virtual"][: search._used].any()
    for node in search._nodes[: search._used]:
        if node["place"] >= 0:
            own, other = (search._arms[node["place"], side][: node["counts"][side]] for side in (0, 1))
            assert own["visits"].sum() == other["visits"].sum() == node["visits"] - 1
            assert not own["virtual"].any() and not other["virtual"].any()


def test_a_pick_does_not_know_the_others() -> None:
    """Where one arm is best against every answer, both find theirs: the values of arms are means over answers."""
    game = make("simple", "warzone")
    states = game.view(game.new(3, seed=5), SEEDS[:3])

    class Material(Oracle):
        def one(self, state: Any, moves: np.ndarray) -> tuple[float, np.ndarray]:
            after = game.random_games(np.repeat(np.array([state]), 8), seed=1, plies=60)
            value = float(np.mean(game.outcome(after)))
            return value if game.player(state) == 0 else -value, np.zeros(len(moves), np.float32)

    search = JointSearch(game, Material(game), SearchOptions(leaves=1, joint=True))  # type: ignore[arg-type]
    found = search.run(states, SEEDS[:3], 400)
    for i in range(3):
        visits = found.visits[found.ends[i] : found.ends[i + 1]]
        assert visits.max() > 2 * np.median(visits)


# The agent


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder, found = tmp_path_factory.mktemp("weights"), {}
    for name, options in (("units", {}), ("kimura", {"blocks": 1, "filters": 8}), ("soares", {}), ("gcn4", {})):
        found[name] = str(folder / f"{name}.safetensors")
        save_network(folder / f"{name}.safetensors", sandtable.make_network(name, **options))
    return found


@pytest.mark.parametrize(
    ("name", "map_", "network", "options"),
    [
        ("tubstap", "kimura-map01", "units", "sims=20"),
        ("tubstap", "crossroads", "units", "sims=20,gumbel=true"),
        ("tubstap", "kimura-map01", "kimura", "sims=10,preset=kimura2020"),
        ("tubstap", "kimura-map01", "units", "sims=20,temperature=1.0,noise=0.25"),
        ("tubstap", "li-symmetric", "units", "sims=8,symmetries=2"),
        ("warzone", "italy", "soares", "sims=20,preset=soares2025"),
        ("warzone", "simple", "soares", "sims=20,greedy=true"),
        ("warzone", "banana", "soares", "sims=20,joint=true,greedy=true"),
        ("warzone", "owl_island", None, "sims=50"),
    ],
)
def test_it_plays(files: dict[str, str], name: str, map_: str, network: str | None, options: str) -> None:
    """Whole games against greedy: every move is legal, values and visits are told, a seed repeats them."""
    game = make(map_, name)
    told = []
    for _ in range(2):
        agent = sandtable.make_agent(f"pvmcts:{options}", weights=files[network] if network else "uniform")
        other = sandtable.make_agent("greedy")
        agent.reset(game, seed=1)
        other.reset(game, seed=2)
        state, moves = game.new(1, seed=7), []
        for _ in range(30):
            if game.done(state)[0]:
                break
            mine = game.player(state)[0] == 0
            decisions = (agent if mine else other).act(state)
            if mine:
                assert -1 <= decisions.values[0] <= 1
                assert decisions.visits[0] is not None and len(decisions.visits[0]) == len(game.moves(state))
            moves.append(decisions.moves.tolist())
            state = game.play(state, decisions.moves)  # an illegal move raises
        told.append(moves)
    assert told[0] == told[1]


def test_thinking_by_time() -> None:
    game = make("li-symmetric")
    agent: Any = sandtable.make_agent("pvmcts:weights=uniform,seconds=0.05")
    agent.reset(game, seed=0)
    visits = agent.act(game.new(1, seed=1)).visits[0]
    assert visits.sum() > 100


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("preset=kimura", "did you mean 'kimura2020'"),
        ("sim=3", "did you mean 'sims'"),
        ("weights=3", "a file of a network is needed"),
        ("weights=nowhere.safetensors", "weights=nowhere.safetensors"),
        ("gumbel=true,reuse=true", "keep no trees"),
        ("joint=true,weights=uniform", "in tubstap they do not"),
        ("joint=true,gumbel=true", "joint=true has no halving"),
        ("c=-1", "c=-1"),
        ("trust=2", "trust=2"),
        ("noise=-0.1", "noise=-0.1"),
        ("leaves=0", "leaves=0"),
        ("gumbel=3", "gumbel=3"),
        ("temperature=-1", "temperature=-1"),
    ],
)
def test_bad_options(spec: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        sandtable.make_agent(f"pvmcts:{spec}").check(make())


def test_networks_that_do_not_fit(files: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="has no policy over the moves"):
        sandtable.make_agent("pvmcts", weights=files["gcn4"]).check(make("li-symmetric"))
    with pytest.raises(ValueError, match="plays warzone, not tubstap"):
        sandtable.make_agent("pvmcts", weights=files["soares"]).check(make())


def test_kimuras_policy_gives_every_unit_the_same_share(files: dict[str, str]) -> None:
    """The network is asked once for each unit; values are the mean of its answers."""
    game = make("kimura-map02")
    network: Any = sandtable.make_network("kimura", blocks=1, filters=8)
    states = middle(game, 5)
    rows, ends = game.moves_each(states)
    values, logits = network.evaluate(game, states, rows, ends)
    for i, state in enumerate(states):
        own, slots = logits[ends[i] : ends[i + 1]], rows[ends[i] : ends[i + 1], 0]
        shares = np.exp(own)
        units = np.unique(slots)
        for slot in units:
            assert shares[slots == slot].sum() == pytest.approx(1, abs=1e-4)
        network.eval()
        alone = [
            network(network.features(game, state.reshape(1), selected=np.array([slot]))).value.item() for slot in units
        ]
        assert values[i] == pytest.approx(np.mean(alone), abs=1e-5)
