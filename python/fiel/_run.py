"""A run: started, gone on with, and read. What stands in it comes from `fiel show --json` (docs/result.md)."""

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from fiel._call import Progress, Word, output_of, watch

_FOLDER_LINE = "fiel: run folder "


@dataclass(frozen=True)
class Candidate:
    """One way of running the model, flat enough for `pandas.DataFrame(run.candidates)`. None: never measured.

    `details` has everything that docs/result.md says of a candidate."""

    id: int
    engine: str
    route: str
    status: str
    kind: str
    reason: str | None
    roles: tuple[str, ...]
    screen_ratio: float | None
    race_ratios: tuple[float, ...]
    latency_mean_us: float | None
    latency_p50_us: float | None
    latency_p90_us: float | None
    latency_p99_us: float | None
    latency_n: int
    throughput_per_second: float | None
    margin_left: float | None
    peak_memory_bytes: int | None
    artifact_bytes: int | None
    build_seconds: float | None
    settings: dict[str, str]
    environment: dict[str, str]
    reproduce: str
    details: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, shown: dict[str, Any]) -> Self:
        latency: dict[str, Any] = shown["latency_us"] or {}
        return cls(
            **{name: shown[name] for name in ("id", "engine", "route", "status", "kind", "reason", "screen_ratio",
                                              "throughput_per_second", "peak_memory_bytes", "artifact_bytes",
                                              "build_seconds", "settings", "environment", "reproduce")},
            latency_mean_us=latency.get("mean"),
            latency_p50_us=latency.get("p50"),
            latency_p90_us=latency.get("p90"),
            latency_p99_us=latency.get("p99"),
            latency_n=latency.get("n", 0),
            roles=tuple(shown["roles"]),
            race_ratios=tuple(shown["race_ratios"]),
            margin_left=shown["accuracy"]["margin_left"],
            details=shown,
        )


class Run:
    """The run in a folder, finished or going on. It is read once; `Run(run.folder)` reads it anew."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"fiel.Run({str(self.folder)!r})"

    def __str__(self) -> str:
        """The table that `fiel show` prints."""
        return output_of(["show", self.folder])

    @cached_property
    def result(self) -> dict[str, Any]:
        """The document of `fiel show --json`."""
        result: dict[str, Any] = json.loads(output_of(["show", self.folder, "--json"]))
        return result

    @property
    def verdict(self) -> str | None:
        """improved, not_improved, undecided or infeasible; None while the run goes on."""
        return self._text("verdict")

    @property
    def reason(self) -> str | None:
        return self._text("reason")

    @property
    def speedup(self) -> dict[str, Any] | None:
        """estimate, low, high, confidence and the number of sessions; None where nothing is proven faster."""
        speedup: dict[str, Any] | None = self.result["speedup"]
        return speedup

    @cached_property
    def candidates(self) -> list[Candidate]:
        return [Candidate.from_json(shown) for shown in self.result["candidates"]]

    def candidate(self, number: int) -> Candidate:
        for candidate in self.candidates:
            if candidate.id == number:
                return candidate
        raise KeyError(f"no candidate {number} in {self.folder}")

    @property
    def winner(self) -> Candidate | None:
        """What was proven faster and accurate."""
        return self._named("winner")

    @property
    def comparator(self) -> Candidate | None:
        """What had to be beaten."""
        return self._named("comparator")

    @property
    def ships(self) -> Candidate | None:
        """The winner, else the comparator; None where nothing meets the contract."""
        number = self.result["ships"]
        return None if number is None else self.candidate(number)

    def markdown(self) -> str:
        """The verdict and the candidates, for a comment or a page."""
        return output_of(["show", self.folder, "--markdown"])

    def export(self, folder: str | os.PathLike[str] | None = None, *, candidate: int | None = None) -> Path:
        """Writes the bundle and returns its folder: RUN/bundle unless another is named."""
        words: list[Word] = ["export", self.folder.absolute()]
        if folder is not None:
            words += ["-o", Path(folder).absolute()]
        if candidate is not None:
            words += ["--candidate", str(candidate)]
        return Path(output_of(words).rstrip("\n")).absolute()

    def _text(self, key: str) -> str | None:
        text: str | None = self.result[key]
        return text

    def _named(self, key: str) -> Candidate | None:
        named = self.result[key]
        return None if named is None else self.candidate(named["id"])


def tune(
    contract: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    budget: str | None = None,
    candidates: int | None = None,
    strategy: str | None = None,
    routes: str | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """`fiel tune`: a contract, or a model together with `data`, to a run with a verdict, whichever of the four that is.

    `budget` is a text such as "15m", `output` the run folder. `progress` is called with each event of docs/events.md; without
    it what people read is written to sys.stderr. Raises `Failed` where there is no verdict."""
    words: list[Word] = ["tune", os.fspath(contract)]
    options = {"--data": data, "--output": output, "--budget": budget, "--candidates": candidates, "--strategy": strategy,
               "--routes": routes, "--seed": seed}
    for flag, value in options.items():
        if value is not None:
            words += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    told = watch(words, progress, _FOLDER_LINE)
    return Run(output if output is not None else told[0].removeprefix(_FOLDER_LINE))


def resume(run: Run | str | os.PathLike[str], *, progress: Progress | None = None) -> Run:
    """`fiel resume`: goes on where a run stopped."""
    folder = run.folder if isinstance(run, Run) else Path(run)
    watch(["resume", folder], progress)
    return Run(folder)
