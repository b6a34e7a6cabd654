"""Gradcheck of nodes: autograd's Jacobian against central differences in float64, the worst element told.

Steps and tolerances are those of ``torch.autograd.gradcheck`` (PyTorch 2.13): eps 1e-6, atol 1e-5, rtol 1e-3.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from gradstudio.engine.errors import CannotTry
from gradstudio.engine.experiment.function_capture import Capture, Input, Result, dtype_text, is_wide
from gradstudio.engine.experiment.rerun import STOPPED, Rerun, World, attempt, isolate
from gradstudio.graph.groups.call_ids import calls_around
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Check, Checked, CheckRow, LeftOut

EPS = 1e-6
ATOL = 1e-5
RTOL = 1e-3
MOST_INPUTS = 2048
MOST_OUTPUTS = 512
"""Elements that are checked, of all inputs together and of each output; of more a fixed random sample."""
MOST_WORK = 5_000_000
"""Elements that may be computed with in all: of large tensors fewer are checked."""
LEAST = 64
MOST_WORDS = 3
JUMP = 1e3
"""A slope above this on one side, over `EPS`, is a jump."""


def check(world: World, request: Check) -> Checked:
    """Run silently up to the nodes, and check them as one function."""
    run = Rerun(world)
    try:
        with isolate(world.settings):
            capture = _captured(world, run, frozenset(request.nodes))
            rows, words = _check(world, capture, frozenset(request.nodes))
    except CannotTry as reason:
        return Checked(request=request.request, nodes=request.nodes, error=str(reason))
    finally:
        run.let_go()
    left_out = tuple(LeftOut(node=node, reason=reason) for node, reason in capture.left_out.items())
    return Checked(request=request.request, nodes=request.nodes, rows=rows, error=words, left_out=left_out)


def _check(world: World, capture: Capture, nodes: frozenset[ItemId]) -> tuple[tuple[CheckRow, ...], str]:
    torch.set_default_dtype(torch.float64)
    results = capture.results
    if nodes and nodes == capture.left_out.keys():
        raise CannotTry("None of them can be checked: " + " ".join(capture.left_out.values()))
    if not capture.inputs:
        raise CannotTry(f"Nothing differentiable goes into {_listed(world, nodes)}.")
    if not results:
        raise CannotTry(f"{_listed(world, nodes)} gives no tensor, so there is nothing to differentiate.")
    finals = _differentiable(world, capture, results)
    tried = _Trial(world, capture, [*_possible(world, capture), *finals], len(finals))
    rows = tried.rows()
    return rows, " ".join([*tried.words(), *tried.kinks(rows)])


def _captured(world: World, run: Rerun, nodes: frozenset[ItemId]) -> Capture:
    capture = Capture(nodes, world.seed)
    if not nodes or any(world.loaded.places.known(node) is None for node in nodes):
        raise CannotTry("It is not a statement of the program that was loaded, so it cannot be checked.")
    if len({calls_around(node) for node in nodes}) > 1:
        raise CannotTry("They stand inside different calls of groups. Check those of one call at a time.")
    end = run.go(capture, until=None)
    if end.outcome == "stopped":
        raise CannotTry(end.words)
    why = f"The program fails before it could be checked: {end.words}" if end.outcome == "failed" else ""
    if capture.missing:
        why = why or f"{_listed(world, capture.missing)} is not reached when the program runs."
    if why and (len(nodes) == 1 or not capture.results):
        raise CannotTry(why)
    if why:
        capture.leave_out_missing(why)
    return capture


def _possible(world: World, capture: Capture) -> list[Result]:
    """The results that others take in again and that can have a gradient; the rest is left out."""
    found: list[Result] = []
    for result in capture.inner:
        try:
            found += _differentiable(world, capture, [result])
        except CannotTry as reason:
            capture.left_out.setdefault(result.node, str(reason))
    return found


def _differentiable(world: World, capture: Capture, results: list[Result]) -> list[Result]:
    """The results that can have a gradient, once they were seen to be the same twice.

    Raises:
        CannotTry: there is none, it is too coarse, or it is another one each time.
    """
    first = capture.evaluate(results)
    wide = [place for place, tensor in enumerate(first) if tensor.is_floating_point() or tensor.is_complex()]
    if not wide:
        names = _listed(world, (r.node for r in results))
        kinds = {dtype_text(tensor) for tensor in first}
        raise CannotTry(f"{names} gives {', '.join(sorted(kinds))}, which has no gradient.")
    possible = {results[place].node for place in wide}
    for result, tensor in zip(results, first, strict=True):
        if result.node not in possible:
            reason = f"{_listed(world, (result.node,))} gives {dtype_text(tensor)}, which has no gradient."
            capture.left_out.setdefault(result.node, reason)
    for place in wide:
        if not is_wide(first[place]):
            name = _listed(world, (results[place].node,))
            raise CannotTry(
                f"{name} gives {dtype_text(first[place])} also from float64: too coarse for finite differences."
            )
    chosen = [results[place] for place in wide]
    again = capture.evaluate(chosen)
    if not all(torch.equal(_plain(first[place]), _plain(b)) for place, b in zip(wide, again, strict=True)):
        raise CannotTry(f"{_listed(world, (r.node for r in chosen))} gives other numbers each time, also when seeded.")
    return chosen


class _Trial:
    """Both Jacobians, of as many elements as there is time for."""

    def __init__(self, world: World, capture: Capture, results: list[Result], finals: int) -> None:
        """Evaluate once.

        Args:
            world, capture: where and what.
            results: what is differentiated, the last `finals` of them those that none of the nodes takes in again.
        """
        self._world = world
        self._capture = capture
        self._results = results
        self._finals = finals
        self._inputs = capture.inputs
        self._complex: list[bool] = []
        self._base = self._outputs()
        counts = [found.leaf.numel() for found in self._inputs]
        allowed = _allowed(sum(counts) + sum(out.numel() for out in self._base))
        self._ins = [_sample(count, _share(count, sum(counts), allowed)) for count in counts]
        most = min(MOST_OUTPUTS, allowed)
        inner = len(results) - finals
        self._outs = [
            _sample(out.numel(), max(1, most // inner) if place < inner else most)
            for place, out in enumerate(self._base)
        ]

    def rows(self) -> tuple[CheckRow, ...]:
        """One for each output by each input that has elements."""
        analytical = [self._analytical(place) for place in range(len(self._results))]
        rows: list[list[CheckRow]] = [[] for _ in self._results]
        moves: list[list[bool]] = [[] for _ in self._results]
        for index, found in enumerate(self._inputs):
            numerical = self._numerical(index)
            for place, result in enumerate(self._results):
                if numerical[place].numel():
                    ours = analytical[place][index]
                    rows[place].append(self._row(found, index, result, place, ours, numerical[place]))
                    moves[place].append(bool(ours.any() or numerical[place].any()))
        inner = len(rows) - self._finals
        for place in range(inner):  # what an inner result does not depend on is not worth a row
            if any(moves[place]):
                rows[place] = [row for row, counts in zip(rows[place], moves[place], strict=True) if counts]
        return tuple(row for found in (*rows[inner:], *rows[:inner]) for row in found)

    def words(self) -> list[str]:
        """What was not checked, and what does not require grad."""
        said = []
        checked = sum(len(ins) for ins in self._ins)
        whole = sum(found.leaf.numel() for found in self._inputs)
        if checked < whole:
            said.append(f"Of {whole:,} input elements {checked:,} were checked, a fixed random sample.")
        for out, outs in zip(self._base[-self._finals :], self._outs[-self._finals :], strict=True):
            if len(outs) < out.numel():
                said.append(f"Of {out.numel():,} output elements {len(outs):,} were checked, a fixed random sample.")
        for out, result in zip(self._base, self._results, strict=True):
            if not out.requires_grad:
                name = _listed(self._world, (result.node,))
                said.append(f"{name} does not require grad even when its inputs do: autograd's numbers are 0.")
        return said

    def kinks(self, rows: tuple[CheckRow, ...]) -> list[str]:
        """Where a disagreement comes from the function, not from its gradient: kinks and jumps."""
        said: list[str] = []
        for row in rows:
            if not row.ok and len(said) < MOST_WORDS:
                said += self._kink(row)
        return said

    def _kink(self, row: CheckRow) -> list[str]:
        index = next(i for i, found in enumerate(self._inputs) if found.name == row.name)
        place = next(i for i, r in enumerate(self._results) if (r.node, r.output) == (row.node, row.output))
        if self._inputs[index].is_complex or self._complex[place]:
            return []
        up, down = (self._moved(index, row.in_index, by)[place][row.out_index].item() for by in (EPS, -EPS))
        middle = self._base[place][row.out_index].item()
        left, right = (middle - down) / EPS, (up - middle) / EPS
        where = f"`{row.name}`{list(row.in_index) if row.in_index else ''}"
        if not math.isfinite(left) or not math.isfinite(right):
            return [f"At {where} it is not finite, so there is no slope."]
        if abs(left - right) <= RTOL * max(1.0, abs(left), abs(right)):
            return []
        if max(abs(left), abs(right)) > JUMP and abs(up - down) > JUMP * EPS:
            return [f"At {where} the function jumps by {up - down:.6g}: there is no slope."]
        return [
            f"At {where} the function has a kink: its slope is {left:.6g} on the left and {right:.6g} on the right."
        ]

    def _outputs(self) -> list[Tensor]:
        if self._world.stopped():
            raise CannotTry(STOPPED)
        outputs = self._capture.evaluate(self._results)
        self._complex = [out.is_complex() for out in outputs]
        return [torch.view_as_real(out.resolve_conj()) if out.is_complex() else out for out in outputs]

    def _moved(self, index: int, element: tuple[int, ...], by: float) -> list[Tensor]:
        """The outputs with one element of an input moved."""
        data = self._inputs[index].leaf.data
        was = data[element].item()
        data[element] = was + by
        try:
            return [out.detach() for out in self._outputs()]
        finally:
            data[element] = was

    def _analytical(self, place: int) -> list[Tensor]:
        """Autograd's Jacobian of one output by each input: (outputs, inputs) of the elements that are checked."""
        out = self._base[place]
        leaves = [found.leaf for found in self._inputs]
        found = [torch.zeros(len(self._outs[place]), len(ins), dtype=torch.float64) for ins in self._ins]
        if not out.requires_grad:
            return found
        for row, element in enumerate(self._outs[place].tolist()):
            if self._world.stopped():
                raise CannotTry(STOPPED)
            for index, grad in enumerate(self._vjp(out, element, leaves)):
                if grad is not None:
                    found[index][row] = grad.detach().reshape(-1)[self._ins[index].to(grad.device)].cpu()
        return found

    def _vjp(self, out: Tensor, element: int, leaves: list[Tensor]) -> tuple[Tensor | None, ...]:
        seed = torch.zeros(out.numel(), dtype=out.dtype, device=out.device)
        seed[element] = 1
        grads: list[Tensor | None] = []

        def differentiate() -> None:
            grads.extend(torch.autograd.grad(out, leaves, seed.view(out.shape), retain_graph=True, allow_unused=True))

        failed = attempt(differentiate)
        if failed:
            raise CannotTry(f"Its backward fails: {failed}")
        return tuple(grads)

    def _numerical(self, index: int) -> list[Tensor]:
        """Central differences of each output by one input: (outputs, inputs) of the elements that are checked."""
        shape = self._inputs[index].leaf.shape
        columns = self._ins[index].tolist()
        found = [torch.zeros(len(outs), len(columns), dtype=torch.float64) for outs in self._outs]
        for column, flat in enumerate(columns):
            element = _unravelled(flat, tuple(shape))
            up = self._moved(index, element, EPS)
            down = self._moved(index, element, -EPS)
            for place, outs in enumerate(self._outs):
                difference = (up[place] - down[place]) / (2 * EPS)
                found[place][:, column] = difference.reshape(-1)[outs.to(difference.device)].cpu()
        return found

    def _row(
        self, found: Input, index: int, result: Result, place: int, analytical: Tensor, numerical: Tensor
    ) -> CheckRow:
        tolerance = ATOL + RTOL * numerical.abs()
        excess = ((analytical - numerical).abs() - tolerance).nan_to_num(math.inf)
        row, column = divmod(int(excess.argmax()), excess.shape[1])
        inside = _unravelled(int(self._ins[index][column]), tuple(found.leaf.shape))
        outside = _unravelled(int(self._outs[place][row]), tuple(self._base[place].shape))
        return CheckRow(
            name=found.name, node=result.node, output=result.output, source=found.source[0],
            source_output=found.source[1], ok=bool((excess <= 0).all()), analytical=float(analytical[row, column]),
            numerical=float(numerical[row, column]), tolerance=float(tolerance[row, column]),
            in_index=inside[:-1] if found.is_complex else inside,
            out_index=outside[:-1] if self._complex[place] else outside, elements=excess.numel(),
        )  # fmt: skip


def _plain(tensor: Tensor) -> Tensor:
    """Its numbers, comparable also where they are NaN."""
    return tensor.detach().nan_to_num()


def _allowed(elements: int) -> int:
    """How many input elements are checked when one evaluation computes with so many."""
    return max(LEAST, min(MOST_INPUTS, MOST_WORK // max(elements, 1)))


def _share(count: int, total: int, allowed: int) -> int:
    return count if total <= allowed else max(1, allowed * count // total)


def _sample(count: int, most: int) -> Tensor:
    """Which elements are checked: all, or a random sample that is the same each time."""
    if count <= most:
        return torch.arange(count)
    return torch.randperm(count, generator=torch.Generator().manual_seed(0))[:most].sort().values


def _unravelled(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        flat, place = divmod(flat, size)
        index.append(place)
    return tuple(reversed(index))


def _listed(world: World, nodes: Iterable[ItemId]) -> str:
    """The nodes' addresses, in program order."""
    wanted = set(nodes)
    places = world.loaded.places
    ordered = [node for node in places.statements if node in wanted]
    return ", ".join(f"`{places.address(node)}`" for node in (*ordered, *sorted(wanted.difference(ordered))))
