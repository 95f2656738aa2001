"""What is told at the end of a run: tables, pictures, hparams."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.training.pictures import add_boards, draw_calibration, draw_confusion
from sandtable.training.run import write_hparams
from sandtable.training.scores import CLASSES, Scores, calibration_text, confusion_text

if TYPE_CHECKING:
    from sandtable.training.value import Trainer


def report(trainer: Trainer, scores: dict[str, Scores], writer: Any) -> None:
    """Write the scores of the best network for TensorBoard and as results.json."""
    step = trainer.counters.step
    for name, score in scores.items():
        writer.add_text(f"confusion/{name}", confusion_text(score.confusion), step)
        writer.add_text(f"calibration/{name}", calibration_text(score.calibration), step)
        writer.add_image(f"confusion/{name}", draw_confusion(score.confusion), step, dataformats="HWC")
        writer.add_image(f"calibration/{name}", draw_calibration(score.calibration), step, dataformats="HWC")
    if "test" in scores:
        _show_worst(trainer, scores["test"], writer, step)
    best = {f"best/{name} accuracy": score.accuracy for name, score in scores.items()}
    write_hparams(writer, asdict(trainer.config), best)
    trainer.run.write_results(results(trainer, scores))


def _show_worst(trainer: Trainer, score: Scores, writer: Any, step: int) -> None:
    data, rows = trainer.test_data, trainer.parts["test"].rows
    games = data.column("game")[rows].astype(np.int64) + (data.column("source")[rows].astype(np.int64) << 32)
    for rank, place in enumerate(score.worst(trainer.config.worst, games)):
        ((source, _, records),) = data.take(rows[place : place + 1])
        game, state = data.games[source], records["state"][0]
        was = CLASSES[1 - int(np.sign(score.outcomes[place]))]
        told = f"predicted {score.values[place]:+.2f}, was a {was} for {game.players[records['player'][0]]}"
        add_boards(writer, f"worst/{rank + 1}", game, state.reshape(1), step)
        writer.add_text(f"worst/{rank + 1}", f"{told}\n\n`{game.to_text(state)}`", step)


def results(trainer: Trainer, scores: dict[str, Scores]) -> dict[str, Any]:
    """All numbers of the best network, and those of each epoch."""
    now = trainer.counters
    return {
        "network": {
            "name": trainer.network.name,
            "options": trainer.network.options,
            "weights": trainer.network.weights,
        },
        "epochs": now.epoch,
        "best_epoch": now.best_epoch,
        "examples": {"train": len(trainer.train_part), **{name: len(part) for name, part in trainer.parts.items()}},
        "best": {
            name: {
                "accuracy": score.accuracy,
                "loss": score.loss,
                "calibration_error": score.calibration_error,
                "by_map": {maps: score.accuracy_of(source) for source, maps in _present(trainer, name, score)},
                "confusion": score.confusion.tolist(),
            }
            for name, score in scores.items()
        },
        "history": now.history,
    }


def _present(trainer: Trainer, part: str, score: Scores) -> list[tuple[int, str]]:
    """The sources of maps that a part has examples of."""
    maps = (trainer.test_data if part == "test" else trainer.data).recipe.maps
    return [(source, name) for source, name in enumerate(maps) if (score.sources == source).any()]


def accuracy_table(told: dict[str, Any]) -> str:
    """The accuracies in results.json as a table for people."""
    parts = told["best"]
    maps = list(dict.fromkeys(name for part in parts.values() for name in part["by_map"]))
    columns = maps if len(maps) > 1 else []
    width = max(len(name) for name in ("part", *parts))
    head = ["states", "overall", *columns]
    lines = ["  ".join(["part".ljust(width), *(name.rjust(max(len(name), 8)) for name in head)])]
    for name, part in parts.items():
        cells = [str(told["examples"][name]), f"{part['accuracy']:.1%}"]
        cells += [f"{part['by_map'][column]:.1%}" if column in part["by_map"] else "-" for column in columns]
        rows = [cell.rjust(max(len(title), 8)) for cell, title in zip(cells, head, strict=True)]
        lines.append("  ".join([name.ljust(width), *rows]))
    return "\n".join(lines)
