"""Learning a value and a policy from positions of self-play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from sandtable.encoders.networks.network import Network
    from sandtable.training.replay import Batch


@dataclass(frozen=True)
class LearnOptions:
    """How a network learns."""

    optimiser: str = "adam"
    """adam, or sgd with Nesterov momentum."""
    lr: float = 1e-3
    momentum: float = 0.9
    """Of sgd."""
    weight_decay: float = 1e-4
    """L2 regularisation."""
    clip: float = 1.0
    """The longest gradient, cut to that length; 0: any."""
    value_weight: float = 1.0
    """How much the error of values counts beside that of the policy."""
    search_share: float = 0.3
    """The share of the search's value in what values learn; the rest is the outcome."""
    warm_up: int = 100
    """The learning rate grows to its full size over so many steps."""


class NotFinite(ValueError):
    """A loss is no number any more."""


class Learner:
    """A network, its optimiser, and how many steps it has made."""

    def __init__(self, network: Network, options: LearnOptions, device: str = "cpu") -> None:
        self.network, self.options, self.device = network.to(device), options, device
        parameters = network.parameters()
        if options.optimiser == "sgd":
            self.optimiser: torch.optim.Optimizer = torch.optim.SGD(
                parameters,
                options.lr,
                options.momentum,
                weight_decay=options.weight_decay,
                nesterov=options.momentum > 0,
            )
        else:
            self.optimiser = torch.optim.AdamW(parameters, options.lr, weight_decay=options.weight_decay)
        self.steps = 0

    def step(self, batch: Batch, rate: float = 1.0) -> dict[str, float]:
        """Learn from a batch; what is to be told of it. rate: a factor of the learning rate.

        A NotFinite error, before anything is learned, if the loss is none.
        """
        network, options = self.network, self.options
        network.train()
        features = network.move_features(batch.game, batch.states, batch.rows, batch.ends)
        if self.device != "cpu":
            features = {name: tensor.to(self.device) for name, tensor in features.items()}
        value, logits = network.judge(features)
        outcome, seen, share, full = (
            torch.from_numpy(array).to(self.device)
            for array in (batch.outcome, batch.value.astype(np.float32), batch.policy, batch.full)
        )
        counts = np.diff(batch.ends)
        of_state = torch.from_numpy(np.repeat(np.arange(len(counts)), counts)).to(self.device)
        logs = log_shares(logits, of_state, len(counts))
        target = (1 - options.search_share) * outcome + options.search_share * seen
        value_loss = (value - target).square().mean()
        taught = full.float()
        per_state = taught.new_zeros(len(counts)).index_add(0, of_state, -share * logs)
        policy_loss = (per_state * taught).sum() / taught.sum().clamp(min=1)
        loss = policy_loss + options.value_weight * value_loss
        if not bool(torch.isfinite(loss)):
            raise NotFinite(f"the loss is {float(loss.detach())} at step {self.steps + 1}")
        self.optimiser.zero_grad()
        loss.backward()
        if options.clip:
            torch.nn.utils.clip_grad_norm_(network.parameters(), options.clip)
        for group in self.optimiser.param_groups:
            group["lr"] = options.lr * rate * min(1.0, (self.steps + 1) / max(options.warm_up, 1))
        self.optimiser.step()
        self.steps += 1
        return self._told(value.detach(), outcome, value_loss, policy_loss, logs.detach(), share, of_state, len(counts))

    def _told(
        self,
        value: Tensor,
        outcome: Tensor,
        value_loss: Tensor,
        policy_loss: Tensor,
        logs: Tensor,
        share: Tensor,
        of_state: Tensor,
        count: int,
    ) -> dict[str, float]:
        decided = outcome != 0
        right = ((value > 0) == (outcome > 0))[decided].float()
        with torch.no_grad():
            entropy = -(logs.exp() * logs).sum() / count
            taught = -(share * share.clamp(min=1e-12).log()).sum() / count
        return {
            "value loss": float(value_loss.detach()),
            "policy loss": float(policy_loss.detach()),
            "policy entropy": float(entropy),
            "search entropy": float(taught),
            "value accuracy": float(right.mean()) if len(right) else float("nan"),
        }

    def state_dict(self) -> dict[str, Any]:
        """Everything, as a checkpoint can hold it."""
        return {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "steps": self.steps,
        }

    def load_state_dict(self, content: dict[str, Any]) -> None:
        """Be as `state_dict` told."""
        self.network.load_state_dict(content["network"])
        self.optimiser.load_state_dict(content["optimiser"])
        self.steps = content["steps"]


def log_shares(logits: Tensor, of_state: Tensor, count: int) -> Tensor:
    """The logarithms (m,) of the policies that logits (m,) of moves mean; of_state (m,): whose move each is."""
    top = logits.new_full((count,), -torch.inf).scatter_reduce(0, of_state, logits.detach(), "amax")
    total = logits.new_zeros(count).index_add(0, of_state, (logits - top[of_state]).exp())
    return logits - top[of_state] - total.log()[of_state]
