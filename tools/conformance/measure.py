"""Measure: goes through PyTorch's databases and counts."""

import os
from collections.abc import Callable, Iterator, Sequence

import torch

from tools.conformance import cases, errors, inference, modules, opinfo
from tools.conformance.engine import Engine
from tools.conformance.plan import Plan, Unplanned
from tools.conformance.scripts import Scripts
from tools.conformance.tally import Tally

THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Of engine and scripts; torch here has one as well. Sums differ in the last bits between one thread and two."""
MODES = {"train": True, "eval": False}


class Measure:
    """Engine, scripts, and what is to be measured."""

    def __init__(
        self, part: int, parts: int, only: str, seed: int, *, trace: bool = True, say: Callable[[str], None] = print
    ) -> None:
        """Measure the entries whose number leaves `part` when divided by `parts`, or the one called `only`."""
        self._part, self._parts, self._only, self._seed, self._say = part, parts, only, seed, say
        environment = {**os.environ, **THREADS}
        self._engine, self._scripts = Engine(environment, trace=trace), Scripts(environment)
        self._threads = torch.get_num_threads()

    def __enter__(self) -> "Measure":
        torch.set_num_threads(1)
        return self

    def __exit__(self, *_: object) -> None:
        torch.set_num_threads(self._threads)
        self._engine.close()
        self._scripts.close()

    def all(self, sections: Sequence[str], dtypes: Sequence[str], variants: Sequence[str]) -> list[Tally]:
        """The lines of the table."""
        tallies: list[Tally] = []
        if "ops" in sections:
            tallies += [self.operators(dtype, variant) for dtype in dtypes for variant in variants]
        if "modules" in sections:
            tallies += [
                self.modules(dtype, mode) for dtype in dtypes for mode in MODES if dtype not in ("int64", "bool")
            ]
        if "errors" in sections:
            tallies.append(self.errors())
        if "infer" in sections:
            tallies += self.inference(dtypes[0])
        return [tally for tally in tallies if tally.samples]

    def operators(self, dtype: str, variant: str) -> Tally:
        """Every sample of one dtype and variant: outputs and gradients."""
        tally = Tally(f"{dtype} {variant}", "op")
        for verdict in cases.judge(self._plans(dtype, variant), self._engine, self._scripts):
            tally.add(verdict)
        return self._said(tally)

    def modules(self, dtype: str, mode: str) -> Tally:
        """Every sample of the module database, in one mode."""
        tally = Tally(f"modules {dtype} {mode}", "module")
        plans = (
            (info.name, plan)
            for info in self._mine(modules.entries(getattr(torch, dtype), self._only))
            for plan in modules.plans(info, getattr(torch, dtype), MODES[mode], self._seed)
        )
        for verdict in cases.judge(plans, self._engine, self._scripts):
            tally.add(verdict)
        return self._said(tally)

    def errors(self) -> Tally:
        """Wrong calls."""
        tally = Tally("wrong calls", "error")
        for op in self._mine(opinfo.operators(torch.float32, self._only)):
            for plan in errors.plans(op, self._seed):
                tally.add(errors.judge(op.full_name, plan, self._engine))
        return self._said(tally)

    def inference(self, dtype: str) -> list[Tally]:
        """What inference states before a run, with small values computed, and without."""
        tallies = [Tally(f"inference {dtype}", "infer"), Tally(f"inference {dtype}, nothing run", "infer")]
        for name, plan in self._plans(dtype, "function"):
            verdicts = inference.judge(name, plan, self._engine)
            for tally, verdict in zip(tallies, verdicts or (), strict=False):
                tally.add(verdict)
        return [self._said(tally) for tally in tallies]

    def _plans(self, dtype: str, variant: str) -> Iterator[tuple[str, Plan | Unplanned]]:
        kind = getattr(torch, dtype)
        for op in self._mine(opinfo.operators(kind, self._only)):
            for plan in opinfo.plans(op, kind, variant, self._seed):
                yield op.full_name, plan

    def _mine(self, entries: list[object]) -> list[object]:
        return entries[self._part :: self._parts]

    def _said(self, tally: Tally) -> Tally:
        self._say(f"{tally.title}: {tally.samples} samples, {tally.share:.2f} % as torch")
        return tally
