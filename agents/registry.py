"""Agents by name: "mcts:sims=200" → a policy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from sandtable.agents.policy import Policy
from sandtable.names import split_spec, unknown_name

if TYPE_CHECKING:
    from sandtable.envs.game import Game

_AGENTS: dict[str, str | Callable[..., Policy]] = {
    "random": "sandtable.agents.simple:RandomPolicy",
    "greedy": "sandtable.agents.simple:GreedyPolicy",
    "pmc": "sandtable.agents.pmc:PmcPolicy",
    "ga": "sandtable.agents.ga:GaPolicy",
    "mcts": "sandtable.agents.mcts:MctsPolicy",
    "minimax": "sandtable.agents.minimax:MinimaxPolicy",
    "muct": "sandtable.agents.mcts:MuctPolicy",
    "pvmcts": "sandtable.agents.pvmcts:PvmctsPolicy",
}


def agent_names() -> list[str]:
    """Every name that make_agent knows."""
    return sorted(_AGENTS)


def register(name: str, factory: Callable[..., Policy] | str) -> None:
    """Make an agent known under a name. factory: what makes it from its options, or "module:attribute"."""
    if not name or not name.replace("-", "").replace("_", "").isalnum():
        raise ValueError(f"an agent's name consists of letters, digits, - and _, got {name!r}")
    _AGENTS[name] = factory


def agent_factory(name: str) -> Callable[..., Policy]:
    """What makes the agents of this name."""
    if name not in _AGENTS:
        raise ValueError(unknown_name("agent", name, _AGENTS))
    factory = _AGENTS[name]
    if isinstance(factory, str):
        module, attribute = factory.split(":")
        factory = getattr(import_module(module), attribute)
    assert callable(factory)
    return factory


def make_agent(spec: str | Policy, **options: Any) -> Policy:
    """The policy that a text such as "mcts:sims=200" names; options may also be given by keyword.

    An unknown name or option is answered with the nearest valid one. A policy is handed back as it is.
    """
    if isinstance(spec, Policy):
        if options:
            raise ValueError(f"a policy that is made already takes no options, got {', '.join(options)}")
        return spec
    if not isinstance(spec, str):
        raise TypeError(f'an agent is named by text such as "mcts:sims=200", got {type(spec).__name__}')
    name, given = split_spec(spec)
    factory = agent_factory(name)
    options = {**given, **options}
    parameters = signature(factory).parameters.values()
    valid = [p.name for p in parameters if p.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    if not any(p.kind is Parameter.VAR_KEYWORD for p in parameters):
        for option in options:
            if option not in valid:
                raise ValueError(unknown_name(f"option of the agent {name!r}", option, valid))
    try:
        return factory(**options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def check(spec: str, game: Game | None = None) -> None:
    """Raise a ValueError if the text names no agent, or none that can play the game. Agents load what is large when
    they are reset, not before."""
    agent = make_agent(spec)
    if game is not None:
        try:
            agent.check(game)
        except ValueError as error:
            raise ValueError(f"agent {spec!r}: {error}") from None
