"""A checkpoint as a file: what learns in a run, and its generators, at the end of a turn of the loop that trains.

A file of safetensors under the names of the program: ``state.model.0.weight``, ``optimizer.opt.0.exp_avg``,
``gradient.model.0.weight``, ``random``. Its metadata hold what optimizers, schedules and scalers say beside their
tensors. Exported training scripts read and write the same (`program/forms/training/texts`).
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn, optim

from gradstudio.engine import access
from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.script.compiled_steps import Head, Item, Step, flat_steps, has_backward
from gradstudio.graph.model import ItemId

ABOUT: Final = "training"
_MILESTONES: Final = "milestones"
"""What JSON makes texts of, and a schedule knows by itself."""
NO_LOOP: Final = "There is no loop that trains: a checkpoint is of the end of one of its turns."
NO_FILE: Final = "This is no checkpoint of a training: neither GradStudio nor one of its training scripts wrote it."
INSIDE: Final = "The run stands inside a turn. Go on to its end (Step out, Shift+F11), then save the checkpoint."
AT_END: Final = "The checkpoint is behind turn {turns}, and the loop has {total}. Raise its number, then continue."
TOO_LARGE: Final = "What was learnt takes more than {megabytes} MB: Run ▸ Save checkpoint keeps it."
OTHER_SEED: Final = (
    "The checkpoint is of a training that began with seed {theirs}, and the program has seed {ours}: other rows would "
    "be learnt from. Set the seed to {theirs} (Edit ▸ Seed), then continue."
)
OF_ANOTHER: Final = "This is a checkpoint of another program: {why}."


class KeptCheckpoint:
    """A checkpoint that was read.

    Attributes:
        turns: how many turns of the loop were done; `seed` what the training began with.
    """

    def __init__(self, data: bytes) -> None:
        """Read it.

        Raises:
            VerbRefused: it is none.
        """
        try:
            self._tensors = load(data)
            about = json.loads(_header(data)["__metadata__"][ABOUT])
            self.turns, self.seed = int(about["turns"]), int(about["seed"])
            self._objects: dict[str, Any] = dict(about["objects"])
            self._random = self._tensors["random"]
        except (SafetensorError, ValueError, KeyError, TypeError) as error:
            raise VerbRefused(NO_FILE) from error

    def first_steps(self, loaded: Loaded) -> frozenset[ItemId]:
        """The statements of the loop that goes on, before which a run is put forward.

        Raises:
            VerbRefused: the program has no such loop, or another seed.
        """
        head = _training_loop(loaded.items)
        if head is None:
            raise VerbRefused(NO_LOOP)
        ours = loaded.program.seed
        if ours is not None and ours != self.seed:
            raise VerbRefused(OTHER_SEED.format(theirs=self.seed, ours=ours))
        return frozenset(step.id for step in flat_steps(head.body))

    def put_back(self, live: Live, *, stays: bool = False) -> dict[ItemId, int]:
        """Make the run what it was; it stands in the first turn. How many turns of its loop are done.

        Args:
            live: the run.
            stays: it is not to go on, so the training may have been at its end.

        Raises:
            VerbRefused: the file is of another program, or its training was at its end.
        """
        head = _training_loop(live.loaded.items)
        assert head is not None
        total = _length(head, live)
        if not 1 <= self.turns < total + stays:
            raise VerbRefused(AT_END.format(turns=self.turns, total=total))
        live.leave_calls()
        live.cursor.stand_behind_turn(head.id, self.turns - 1)
        parts = dict(_parts(live))
        try:
            covered = {id(one) for name, part in parts.items() for one in self._fill(name, part)}
        except (KeyError, ValueError, RuntimeError) as error:
            raise VerbRefused(OF_ANOTHER.format(why=str(error).strip("'").splitlines()[0])) from error
        lacking = [name for name, part in parts.items() if not covered.issuperset(map(id, _tensors_of(part)))]
        if lacking:
            raise VerbRefused(OF_ANOTHER.format(why=f"it has no '{lacking[0]}'"))
        self._put_gradients_back(parts)
        torch.set_rng_state(self._random)
        if torch.cuda.is_available() and "random.cuda" in self._tensors:
            torch.cuda.set_rng_state(self._tensors["random.cuda"])
        return {head.id: self.turns}

    def _fill(self, name: str, part: object) -> Iterator[Tensor]:
        """Make a part what it was, where the file has it; its tensors."""
        if isinstance(part, optim.Optimizer):
            part.load_state_dict({"state": self._states(name), "param_groups": self._objects[name]})
        elif isinstance(part, nn.Module):
            found = self._below(f"state.{name}.")
            if found:
                part.load_state_dict(found)
                yield from _tensors_of(part)
        elif isinstance(part, Tensor):
            if f"state.{name}" in self._tensors:
                with torch.no_grad():  # by its version the window is told that it is another
                    part.copy_(self._tensors[f"state.{name}"])
                yield part
        elif name in self._objects:
            state = {key: value for key, value in self._objects[name].items() if key != _MILESTONES}
            part.load_state_dict(state)  # type: ignore[attr-defined] # a schedule or a scaler

    def _states(self, name: str) -> dict[int, dict[str, Tensor]]:
        states: dict[int, dict[str, Tensor]] = {}
        for key, value in self._below(f"optimizer.{name}.").items():
            number, word = key.split(".", 1)
            states.setdefault(int(number), {})[word] = value
        return states

    def _put_gradients_back(self, parts: dict[str, object]) -> None:
        for name, leaf in _leaves(parts):
            gradient = self._tensors.get(f"gradient.{name}")
            if gradient is not None or leaf.grad is not None:
                leaf.grad = gradient.to(leaf.device) if gradient is not None else None

    def _below(self, prefix: str) -> dict[str, Tensor]:
        found = (name for name in self._tensors if name.startswith(prefix))
        return {name.removeprefix(prefix): self._tensors[name] for name in found}


def checkpoint_bytes(live: Live | None, most_bytes: int = 0) -> tuple[bytes, int]:
    """The run as a file, of so many bytes at most (0: any), and how many turns of the loop that trains are done.

    Raises:
        VerbRefused: it stands at the end of no turn, or what it holds is nothing that a file keeps, or too large.
    """
    if live is None or not live.traced or live.failed:
        raise VerbRefused("Nothing has been trained yet: run the program first.")
    turns = _turns_done(live)
    tensors: dict[str, Tensor] = {"random": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch says no types
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    objects: dict[str, object] = {}
    parts = dict(_parts(live))
    for name, part in parts.items():
        if isinstance(part, optim.Optimizer):
            state = part.state_dict()
            objects[name] = state["param_groups"]
            for number, values in state["state"].items():
                tensors |= {f"optimizer.{name}.{number}.{key}": one for key, one in values.items() if one is not None}
        elif isinstance(part, nn.Module):
            tensors |= {f"state.{name}.{key}": one for key, one in part.state_dict().items()}
        elif isinstance(part, Tensor):
            tensors[f"state.{name}"] = part
        else:
            objects[name] = part.state_dict()  # type: ignore[attr-defined] # a schedule or a scaler
    tensors |= {f"gradient.{name}": leaf.grad for name, leaf in _leaves(parts) if leaf.grad is not None}
    if most_bytes and sum(one.nbytes for one in tensors.values()) > most_bytes:
        raise VerbRefused(TOO_LARGE.format(megabytes=most_bytes >> 20))
    return _written(tensors, {"turns": turns, "seed": live.seed, "objects": objects}), turns


def _written(tensors: dict[str, Tensor], about: dict[str, object]) -> bytes:
    try:
        apart = {
            name: value.detach().cpu().clone(memory_format=torch.contiguous_format) for name, value in tensors.items()
        }
        data: bytes = save(apart, {ABOUT: json.dumps(about)})
        return data
    except (TypeError, AttributeError, ValueError) as error:
        raise VerbRefused(f"What learns here is more than tensors and numbers: {error}") from error


def _header(data: bytes) -> dict[str, Any]:
    """What stands before the tensors of a file of safetensors."""
    size = int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8 : 8 + size])
    return header


def _turns_done(live: Live) -> int:
    """How many turns of the loop that trains are done.

    Raises:
        VerbRefused: the run stands inside of one, or before it.
    """
    head = _training_loop(live.loaded.items)
    if head is None:
        raise VerbRefused(NO_LOOP)
    around = [frame for frame in live.cursor.frames if frame.head is not None and frame.head.block.kind != "group"]
    if not around:
        if live.cursor.is_ahead(head.id):
            raise VerbRefused("The training has not begun.")
        return _length(head, live)
    frame = around[0]
    if live.calls or len(around) > 1 or frame.head is not head or frame.index < len(frame.items):
        raise VerbRefused(INSIDE)
    return frame.turn + 1


def _length(head: Head, live: Live) -> int:
    """How many turns a loop has."""
    over = access.evaluate(head.expression, live.namespace) if head.expression is not None else None
    if not isinstance(over, range):
        raise VerbRefused("The loop that trains goes over no range, so no checkpoint can say its place in it.")
    return len(over)


def _training_loop(items: Iterable[Item]) -> Head | None:
    """The first loop of the program with a backward in it."""
    for item in items:
        if isinstance(item, Step):
            continue
        if item.block.kind == "for" and has_backward(item.body):
            return item
        if item.block.kind == "group" and (found := _training_loop(item.body)) is not None:
            return found
    return None


def _parts(live: Live) -> Iterator[tuple[str, object]]:
    """What changes while a program learns, by name."""
    for name in live.binder:
        value = live.namespace.get(name)
        is_leaf = isinstance(value, Tensor) and value.is_leaf and value.requires_grad
        kinds = (nn.Module, optim.Optimizer, optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)
        if is_leaf or isinstance(value, kinds):
            yield name, value


def _tensors_of(part: object) -> Iterator[Tensor]:
    if isinstance(part, nn.Module):
        yield from part.parameters()
        yield from part.buffers()
    elif isinstance(part, Tensor):
        yield part


def _leaves(parts: dict[str, object]) -> Iterator[tuple[str, Tensor]]:
    for name, part in parts.items():
        if isinstance(part, Tensor):
            yield name, part
        elif isinstance(part, nn.Module):
            for key, one in part.named_parameters(remove_duplicate=False):
                yield f"{name}.{key}", one
