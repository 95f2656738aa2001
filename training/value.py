"""Supervised learning of value networks: from states to the outcomes of their games.

A run is the same whatever interrupts it: the order of examples follows from the seed and the epoch, and a checkpoint
has everything else. So a run that was killed and resumed ends with the weights of one that was not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from sandtable.encoders.networks.files import load_network, save_network
from sandtable.matches.progress import Progress
from sandtable.training.examples import Encoding, Examples
from sandtable.training.run import Run, Stop, stop_when_asked
from sandtable.training.scores import Scores, class_of, predicted_class
from sandtable.training.split import Split
from sandtable.training.value_config import ValueConfig

if TYPE_CHECKING:
    from sandtable.encoders.networks.network import Network, Output
    from sandtable.training.data import Data

_EVALUATION_BATCH = 4096


class Diverged(RuntimeError):
    """The loss or the weights are no numbers any more; the text says since when."""


class Interrupted(Exception):
    """Somebody asked the run to end; its checkpoint is written."""


@dataclass
class Counters:
    """Where a run is. All of it goes into checkpoints."""

    epoch: int = 0
    """Epochs that are over."""
    batch: int = 0
    """Batches of this epoch that are over."""
    step: int = 0
    """Batches since the beginning."""
    loss: float = 0.0
    """Sum over the examples of this epoch."""
    right: int = 0
    """How many of them were predicted right."""
    seen: int = 0
    best: float = math.inf
    """The lowest loss (or highest accuracy, negated) on the validation part so far."""
    best_epoch: int = 0
    waited: int = 0
    """Epochs since then."""
    history: list[dict[str, float]] = field(default_factory=list)
    """The scores of each epoch."""


class Trainer:
    """Trains a network on a split data set, in the folder of a run. on_epoch is called after each epoch."""

    def __init__(
        self,
        config: ValueConfig,
        network: Network,
        data: Data,
        split: Split,
        run: Run,
        test_data: Data | None = None,
        quiet: bool = True,
        on_epoch: Callable[[], None] = lambda: None,
    ) -> None:
        torch.set_num_threads(config.threads)
        self._on_epoch = on_epoch
        self.config, self.network, self.data, self.run, self.quiet = config, network, data, run, quiet
        self.by_classes = config.loss == "cross-entropy" or (config.loss == "auto" and network.head == "classes")
        if self.by_classes and network.head != "classes":
            raise ValueError(f"--loss cross-entropy: the network {network.name} answers a value, not classes; use mse")
        self.optimiser = _optimiser(config, network)
        self.counters = Counters()
        room, encoding = config.cache_mb << 20, Encoding(network, data)
        self.train_part = Examples(encoding, split.train, room, config.symmetry)
        self.parts = {"validation": Examples(encoding, split.validation, room - self.train_part.bytes)}
        if test_data is not None:
            encoding = Encoding(network, test_data)
            split = split._replace(test=np.arange(test_data.states))
        self.test_data = test_data or data
        room -= self.train_part.bytes + self.parts["validation"].bytes
        self.parts["test"] = Examples(encoding, split.test, room)
        self.parts = {name: part for name, part in self.parts.items() if len(part)}
        self.batches = math.ceil(len(self.train_part) / config.batch)

    # The run

    def learn(self) -> Scores | None:
        """Learn to the end, from where the run is. The scores of the best network on the test part, if there is one."""
        found = self.run.checkpoints.latest()
        if found is not None:
            self._restore(found)
        else:
            self._save()
        writer = self.run.writer(self.counters.step)
        total = self.config.epochs * len(self.train_part)
        try:
            with stop_when_asked() as stop, Progress(total, "examples", quiet=self.quiet) as progress:
                progress.skip(self.counters.epoch * len(self.train_part) + self.counters.seen)
                while self.counters.epoch < self.config.epochs and not self._is_enough():
                    self._epoch(progress, stop, writer)
            return self._finish(writer)
        finally:
            writer.close()

    def _is_enough(self) -> bool:
        return bool(self.config.patience) and self.counters.waited >= self.config.patience

    def _epoch(self, progress: Progress, stop: Stop, writer: Any) -> None:
        config, now = self.config, self.counters
        self.network.train()
        order = np.random.default_rng([config.seed, 1, now.epoch]).permutation(len(self.train_part))
        turning = np.random.default_rng([config.seed, 2, now.epoch])
        began, seen, saved = time.monotonic(), now.seen, time.monotonic()
        for features, places in self.train_part.batches(order, config.batch, now.batch, turning):
            self._step(features, self.train_part.outcomes[places])
            progress.advance(len(places), f"epoch {now.epoch + 1}, loss {now.loss / now.seen:.3f}")
            if stop.asked:
                self._save()
                raise Interrupted(f"interrupted at step {now.step}")
            if time.monotonic() - saved > config.checkpoint_seconds:
                self._save()
                saved = time.monotonic()
        speed = (now.seen - seen) / max(time.monotonic() - began, 1e-9)
        self._end_epoch(writer, speed)

    def _step(self, features: dict[str, Tensor], outcomes: Tensor) -> None:
        now = self.counters
        for group in self.optimiser.param_groups:
            group["lr"] = self.learning_rate(now.step)
        output = self.network(features)
        loss = self._loss(output, outcomes)
        number = loss.item()
        if not math.isfinite(number):
            kept = self.run.checkpoints.paths()
            raise Diverged(
                f"the loss is {number} at step {now.step} (epoch {now.epoch + 1}); the last good checkpoint is "
                f"{kept[-1] if kept else 'none'}; a smaller --lr may help"
            )
        self.optimiser.zero_grad()
        loss.backward()
        if self.config.clip:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip)
        self.optimiser.step()
        now.step += 1
        now.batch += 1
        now.loss += number * len(outcomes)
        now.right += int((self._classes(output) == class_of(outcomes.numpy())).sum())
        now.seen += len(outcomes)

    def learning_rate(self, step: int) -> float:
        """The learning rate at a step: by the schedule, over all epochs."""
        done = step / max(self.batches * self.config.epochs, 1)
        if self.config.schedule == "cosine":
            return self.config.lr * (1 + math.cos(math.pi * done)) / 2
        if self.config.schedule == "steps":
            return self.config.lr * (0.1 if done >= 0.75 else 0.3 if done >= 0.5 else 1.0)
        return self.config.lr

    def _end_epoch(self, writer: Any, speed: float) -> None:
        now = self.counters
        scores = {name: self.score(part) for name, part in self.parts.items()}
        told = {"train loss": now.loss / now.seen, "train accuracy": now.right / now.seen}
        for name, score in scores.items():
            told |= {f"{name} loss": score.loss, f"{name} accuracy": score.accuracy}
        self._tell(writer, told, scores, speed)
        now.history.append({"epoch": now.epoch + 1, **told})
        now.epoch += 1
        now.batch = now.seen = now.right = 0
        now.loss = 0.0
        self._choose(told)
        self._save()
        self._on_epoch()

    def _choose(self, told: dict[str, float]) -> None:
        """Write the network if it is the best so far: on the validation part, or without one the newest."""
        now = self.counters
        if "validation" not in self.parts:
            score = -float(now.epoch)
        elif self.config.choose_by == "loss":
            score = told["validation loss"]
        else:
            score = -told["validation accuracy"]
        now.waited += 1
        if score < now.best:
            now.best, now.best_epoch, now.waited = score, now.epoch, 0
            facts = {"epoch": now.epoch, "step": now.step, "data": self.data.fingerprint, "scores": told}
            save_network(self.run.best, self.network, **facts)

    def _finish(self, writer: Any) -> Scores | None:
        from sandtable.training.value_report import report

        if self.counters.best_epoch:
            self.network.load_state_dict(load_network(self.run.best).state_dict())
        scores = {name: self.score(part) for name, part in self.parts.items()}
        report(self, scores, writer)
        return scores.get("test")

    # Scores

    def score(self, part: Examples) -> Scores:
        """How good the network is on a part, as it plays: without dropout."""
        self.network.eval()
        values, classes, loss = np.empty(len(part), np.float32), np.empty(len(part), np.int64), 0.0
        with torch.inference_mode():
            for features, places in part.batches(np.arange(len(part)), _EVALUATION_BATCH):
                output = self.network(features)
                loss += float(self._loss(output, part.outcomes[places])) * len(places)
                values[places.numpy()] = output.value.numpy()
                classes[places.numpy()] = self._classes(output)
        return Scores(loss / len(part), values, classes, part.outcomes.numpy(), part.sources)

    def _loss(self, output: Output, outcomes: Tensor) -> Tensor:
        if self.by_classes:
            assert output.classes is not None
            return F.cross_entropy(output.classes, (1 - outcomes.sign()).long())
        return F.mse_loss(output.value, outcomes)

    def _classes(self, output: Output) -> np.ndarray:
        if output.classes is not None:
            return output.classes.detach().argmax(-1).numpy()
        return predicted_class(output.value.detach().numpy())

    def _tell(self, writer: Any, told: dict[str, float], scores: dict[str, Scores], speed: float) -> None:
        step = self.counters.step
        for name, number in told.items():
            part, kind = name.split()
            writer.add_scalar(f"{kind}/{part}", number, step)
        for name, score in scores.items():
            maps = (self.test_data if name == "test" else self.data).recipe.maps
            for source, source_name in enumerate(maps if len(maps) > 1 else ()):
                writer.add_scalar(f"accuracy by map/{name} {source_name}", score.accuracy_of(source), step)
        writer.add_scalar("learning rate", self.learning_rate(step), step)
        writer.add_scalar("examples a second", speed, step)

    # Checkpoints

    def _save(self) -> None:
        weights = self.network.state_dict()
        if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values() if tensor.is_floating_point()):
            raise Diverged(f"weights are no numbers any more after step {self.counters.step}; a smaller --lr may help")
        content = {
            "network": weights,
            "optimiser": self.optimiser.state_dict(),
            "counters": asdict(self.counters),
            "random": torch.get_rng_state(),
            "config": asdict(self.config) | {"option": dict(self.config.option)},
            "data": self.data.fingerprint,
        }
        self.run.checkpoints.save(self.counters.step, content)

    def _restore(self, content: dict[str, Any]) -> None:
        if content["data"] != self.data.fingerprint:
            raise ValueError(f"{self.data.folder} holds other data than the run {self.run.folder} began with")
        self.network.load_state_dict(content["network"])
        self.optimiser.load_state_dict(content["optimiser"])
        self.counters = Counters(**content["counters"])
        torch.set_rng_state(content["random"])


def _optimiser(config: ValueConfig, network: Network) -> torch.optim.Optimizer:
    if config.optimiser == "sgd":
        momentum = config.momentum
        return torch.optim.SGD(
            network.parameters(), config.lr, momentum, weight_decay=config.weight_decay, nesterov=momentum > 0
        )
    return torch.optim.Adam(network.parameters(), config.lr, weight_decay=config.weight_decay)
