"""A recipe's page: tables of Markdown, and the paper's numbers beside ours with what is to be said about each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandtable.baselines.recipe import Stage, Workshop


@dataclass(frozen=True)
class Claim:
    """A number of the paper and ours, both shares, with the 95% interval of ours."""

    what: str
    paper: float
    ours: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether ours is the paper's, as far as its interval tells."""
        if self.low <= self.paper <= self.high:
            return "as the paper"
        gap = f"{100 * abs(self.ours - self.paper):.1f} points"
        return f"above by {gap}" if self.ours > self.paper else f"**below by {gap}**"

    @property
    def cells(self) -> list[str]:
        """Paper, ours, interval and verdict."""
        return [percent(self.paper), percent(self.ours), interval(self.low, self.high), self.verdict]


def summary(claims: Sequence[Claim]) -> str:
    """How many numbers are the paper's, and plainly which are below."""
    below = [claim for claim in claims if claim.high < claim.paper]
    above = [claim for claim in claims if claim.low > claim.paper]
    same = len(claims) - len(below) - len(above)
    text = (
        f"{len(claims)} numbers compared with the paper's: {same} the same within their interval, {len(above)} higher, "
        f"{len(below)} lower."
    )
    if not below:
        return text
    rows = [f"- {claim.what}: {percent(claim.ours)}, the paper has {percent(claim.paper)}." for claim in below]
    return "\n".join([f"{text} These miss the paper:", "", *rows])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [_line(head), "|" + "---|" * len(head), *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def percent(share: float) -> str:
    return f"{share:.1%}"


def interval(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"


def duration(seconds: float) -> str:
    """Such as "1 h 5 min", "5 min 3 s" or "3.2 s"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def how(workshop: Workshop, name: str, scale: str) -> str:
    """The section on how the page came about: command, versions, time of each stage."""
    stages = workshop.stages
    command = f"python -m sandtable.baselines.{name} --scale {scale} --seed {workshop.seed}"
    versions = dict.fromkeys(_version(stage) for stage in stages)
    rows = [[stage.name, ("at least " if stage.again else "") + duration(stage.seconds)] for stage in stages]
    rows.append(["all", duration(sum(stage.seconds for stage in stages))])
    cores = dict.fromkeys(str(stage.cores) for stage in stages)
    notes = [f"sandtable {', '.join(versions)}, on {' or '.join(cores)} cores."]
    if any(stage.again for stage in stages):
        notes.append('"At least" stands where a stage was interrupted: what went before is not counted.')
    parts = ["## How", f"```sh\n{command}\n```", " ".join(notes), table(["stage", "time"], rows)]
    return "\n\n".join(parts)


def _version(stage: Stage) -> str:
    return f"{stage.version} ({stage.commit[:10]})" if stage.commit else stage.version
