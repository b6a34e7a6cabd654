"""A checkpoint as a file: what learns in a run, and its generators, at the end of a turn of the loop that trains.

A file of safetensors under the names of the program: ``state.model.0.weight``, ``optimizer.opt.0.exp_avg``,
``gradient.model.0.weight``, ``random``. Its metadata hold what optimizers, schedules and scalers say beside their
tensors. Exported training scripts read and write the same (`program/forms/training/texts`); one of the window holds
more, where its run stood in a loop: values that turns hand on, every generator, modes, and its place. One that was
kept within a turn is under a name of its own: no script goes on from there.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor, nn, optim

from gradstudio.engine import access
from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.script.compiled_steps import Head, Item, Step, flat_steps, has_backward, heads
from gradstudio.engine.script.cursor import Frame
from gradstudio.engine.script.generator_states import GeneratorStates
from gradstudio.engine.turns.checkpoints.carried_values import (
    is_part,
    own_generators,
    pack_values,
    touched_behind,
    unpack_values,
)
from gradstudio.engine.turns.checkpoints.checkpoint_copy import CheckpointCopy
from gradstudio.engine.turns.checkpoints.file_places import Places, below, has_next_turn, pack_places, stand
from gradstudio.engine.turns.checkpoints.keepable import require_bytes, require_own_module, require_strided
from gradstudio.engine.turns.checkpoints.kept_gradients import pack_gradients, put_gradients_back
from gradstudio.engine.turns.checkpoints.object_states import UnknownState
from gradstudio.engine.turns.loop_length import turns_of
from gradstudio.graph.model import ItemId

ABOUT: Final = "training"
ABOUT_INSIDE: Final = "training.inside"
"""In place of it where the run stood at the end of a turn of a loop within."""
GENERATORS: Final = "generators."
_ENDLESS: Final = 1 << 62
_MOST_BACKWARDS: Final = 1 << 30
_MALFORMED: Final = (ValueError, LookupError, TypeError, AttributeError, RuntimeError)
"""What putting a file back ends with that says other things than the program has places for."""
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
HANDED_ON: Final = "A loop of this program hands on what no checkpoint keeps: {why}."
NOT_COPIED: Final = "It cannot be copied: {why}"
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
            metadata = _header(data)["__metadata__"]
            about = json.loads(metadata.get(ABOUT) or metadata[ABOUT_INSIDE])
            self.turns, self.seed = int(about["turns"]), int(about["seed"])
            self._objects: dict[str, Any] = dict(about["objects"])
            self._values: dict[str, Any] = dict(about.get("values", {}))
            self._modes: dict[str, Any] = dict(about.get("modes", {}))
            self._counts = [int(one) for one in about.get("counts", ())]
            kept = [[int(index), int(turn), int(ahead)] for index, turn, ahead in about.get("places", ())]
            self._places: Places = kept or [[0, self.turns - 1, 0]]
            self._backwards = min(max(int(about.get("backwards", 0)), 0), _MOST_BACKWARDS)
            self._random = self._tensors["random"]
        except (SafetensorError, *_MALFORMED) as error:
            raise VerbRefused(NO_FILE) from error

    def first_steps(self, loaded: Loaded) -> frozenset[ItemId]:
        """The statements of the loop that goes on, before which a run is put forward.

        Raises:
            VerbRefused: the program has no such loop, or another seed.
        """
        head = training_loop(loaded.items)
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
        head = training_loop(live.loaded.items)
        assert head is not None
        total = _turns_there_are(head, live)
        is_inside = len(self._places) > 1
        if not 0 <= self._places[0][1] < total - (not is_inside) + stays:
            raise VerbRefused(AT_END.format(turns=self.turns, total=total))
        live.leave_calls()
        parts = dict(_parts(live))
        try:
            covered = {id(one) for name, part in parts.items() for one in self._fill(name, part)}
            unpack_values(live, head, self._values, self._tensors)
            stand(live, head, self._places, self._tensors)
            put_gradients_back(_leaves(parts), self._tensors)
            self._put_generators_back(live)
            live.gradients.backwards = max(live.gradients.backwards, self._backwards)
        except _MALFORMED as error:
            why = (str(error).strip("'").splitlines() or [type(error).__name__])[0]
            raise VerbRefused(OF_ANOTHER.format(why=why)) from error
        lacking = [name for name, part in parts.items() if not covered.issuperset(map(id, _tensors_of(part)))]
        if lacking:
            raise VerbRefused(OF_ANOTHER.format(why=f"it has no '{lacking[0]}'"))
        loops = _loops(live)
        return dict(zip(loops, self._counts, strict=True)) if len(self._counts) == len(loops) else {head.id: self.turns}

    def _put_generators_back(self, live: Live) -> None:
        kept = below(GENERATORS, self._tensors)
        if kept:
            GeneratorStates(own_generators(live)).with_tensors(kept).restore()
            return
        torch.set_rng_state(self._random)
        if torch.cuda.is_available() and "random.cuda" in self._tensors:
            torch.cuda.set_rng_state(self._tensors["random.cuda"])

    def _fill(self, name: str, part: object) -> Iterator[Tensor]:
        """Make a part what it was, where the file has it; its tensors."""
        if isinstance(part, optim.Optimizer):
            groups = [_with_tuples(group) for group in self._objects[name]]
            part.load_state_dict({"state": self._states(name), "param_groups": groups})
        elif isinstance(part, nn.Module):
            found = below(f"state.{name}.", self._tensors)
            if found:
                part.load_state_dict(found)
                _put_modes_back(part, self._modes.get(name))
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
        for key, value in below(f"optimizer.{name}.", self._tensors).items():
            number, word = key.split(".", 1)
            states.setdefault(int(number), {})[word] = value
        return states


class Standing(NamedTuple):
    """Where a run stands that can be kept: how many turns of the loop that trains are done, and the frames from there.

    Attributes:
        frames: none behind the loop.
    """

    head: Head
    turns: int
    frames: tuple[Frame, ...]


def checkpoint_bytes(
    live: Live | None, most_bytes: int = 0, counts: Mapping[ItemId, int] | None = None, *, goes_on: bool = False
) -> tuple[bytes, int]:
    """The run as a file, and how many turns of the loop that trains are done: `copy_checkpoint`, written at once.

    Raises:
        VerbRefused: it stands at the end of no turn, or what it holds is nothing that a file keeps, or too large.
    """
    copy = copy_checkpoint(live, most_bytes, counts, goes_on=goes_on)
    return copy.data(), copy.turns


def copy_checkpoint(
    live: Live | None, most_bytes: int = 0, counts: Mapping[ItemId, int] | None = None, *, goes_on: bool = False
) -> CheckpointCopy:
    """What a file of the run as it stands is to hold, of so many bytes at most (0: any).

    Args:
        live: the run.
        most_bytes: a larger file is refused.
        counts: how many turns of each loop there were.
        goes_on: what cannot be handed on to the next turn is refused, not passed over.

    Raises:
        VerbRefused: it stands at the end of no turn, or what it holds is nothing that a file keeps, or too large.
    """
    if live is None or not live.traced or live.failed:
        raise VerbRefused("Nothing has been trained yet: run the program first.")
    try:
        return _copy(live, most_bytes, counts, goes_on=goes_on)
    except VerbRefused:
        raise
    except Exception as error:  # whatever torch says to a copy, the training goes on
        raise VerbRefused(NOT_COPIED.format(why=next(iter(str(error).splitlines()), type(error).__name__))) from error


def _copy(live: Live, most_bytes: int, counts: Mapping[ItemId, int] | None, *, goes_on: bool) -> CheckpointCopy:
    at = standing_of(live)
    if goes_on and len(at.frames) < 2 and not (at.frames and has_next_turn(at.frames[0])):
        raise VerbRefused(INSIDE)  # nothing is left to go on with
    tensors: dict[str, Tensor] = {"random": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch says no types
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    parts = dict(_parts(live))
    about: dict[str, object] = {"turns": at.turns, "seed": live.seed, "objects": _keep_parts(parts, tensors)}
    try:
        about |= _keep_standing(live, at, tensors)
    except UnknownState as error:
        if goes_on or len(at.frames) > 1:
            raise VerbRefused(HANDED_ON.format(why=error)) from error
    if most_bytes and sum(one.nbytes for one in tensors.values()) > most_bytes:
        raise VerbRefused(TOO_LARGE.format(megabytes=most_bytes >> 20))
    states = GeneratorStates(own_generators(live)).as_tensors()
    tensors |= {f"{GENERATORS}{name}": state for name, state in states.items()}
    about["modes"] = {name: _modes_of(part) for name, part in parts.items() if isinstance(part, nn.Module)}
    about["backwards"] = live.gradients.backwards
    about["counts"] = [(counts or {}).get(loop, 0) for loop in _loops(live)] if counts else []
    return CheckpointCopy.of(tensors, about, ABOUT_INSIDE if len(at.frames) > 1 else ABOUT, at.turns)


def _keep_standing(live: Live, at: Standing, tensors: dict[str, Tensor]) -> dict[str, object]:
    """What turns hand on, and where the run stands, with tensors put among others; of what cannot be kept nothing.

    Raises:
        UnknownState: some of it cannot be kept.
    """
    found = dict(tensors)
    inner, touched = (at.frames[-1].head, frozenset[str]()) if at.frames else (None, touched_behind(at.head, live))
    values = pack_values(live, at.head, inner or at.head, found, touched)
    places = pack_places(list(at.frames), found)
    tensors |= found
    return {"values": values, "places": places}


def _keep_parts(parts: dict[str, object], tensors: dict[str, Tensor]) -> dict[str, object]:
    """Put the tensors of what learns among others; what there is beside them, by name.

    Raises:
        VerbRefused: there is one that no file keeps.
    """
    objects: dict[str, object] = {}
    for name, part in parts.items():
        require_own_module(name, part)
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
    require_bytes(tensors)
    tensors |= pack_gradients(_leaves(parts))
    require_strided(tensors)
    return objects


def _with_tuples(group: dict[str, Any]) -> dict[str, Any]:
    """A group of parameters with pairs, of which JSON has made lists."""
    return {key: tuple(value) if isinstance(value, list) and key != "params" else value for key, value in group.items()}


def _modes_of(module: nn.Module) -> dict[str, list[str]]:
    """The modules within that are evaluated, and the parameters that are frozen."""
    return {
        "eval": [name for name, one in module.named_modules() if not one.training],
        "frozen": [name for name, one in module.named_parameters() if not one.requires_grad],
    }


def _put_modes_back(module: nn.Module, modes: dict[str, list[str]] | None) -> None:
    if modes is None:
        return
    for name, one in module.named_modules():
        one.training = name not in modes["eval"]
    for name, parameter in module.named_parameters():
        parameter.requires_grad_(name not in modes["frozen"])


def _header(data: bytes) -> dict[str, Any]:
    """What stands before the tensors of a file of safetensors."""
    size = int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8 : 8 + size])
    return header


def standing_of(live: Live) -> Standing:
    """Where the run stands in the loop that trains.

    Raises:
        VerbRefused: the run stands in the middle of a turn, or before it.
    """
    head = training_loop(live.loaded.items)
    if head is None:
        raise VerbRefused(NO_LOOP)
    frames = live.cursor.frames
    at = next((depth for depth, frame in enumerate(frames) if frame.head is head), len(frames))
    if any(frame.head is not None and frame.head.block.kind != "group" for frame in frames[:at]):
        raise VerbRefused(INSIDE)
    inside = tuple(frames[at:])
    if not inside:
        if live.cursor.is_ahead(head.id):
            raise VerbRefused("The training has not begun.")
        return Standing(head, live.cursor.lasted.get(head.id) or _length(head, live), ())
    innermost = inside[-1]
    is_at_end = innermost.iterator is not None and innermost.index >= len(innermost.items)
    if live.calls or not is_at_end or (len(inside) > 1 and not has_next_turn(innermost)):
        raise VerbRefused(INSIDE)
    return Standing(head, inside[0].turn + (len(inside) == 1), inside)


def _turns_there_are(head: Head, live: Live) -> int:
    """How many turns the loop has that the run stands in; a number without end where nobody knows."""
    frame = next((frame for frame in live.cursor.frames if frame.head is head), None)
    if frame is None:
        return _length(head, live)
    return turns_of(frame) or _ENDLESS


def _loops(live: Live) -> list[ItemId]:
    """The loops of the program, in its order."""
    return [head.id for head in heads(live.loaded.items) if head.block.kind == "for"]


def _length(head: Head, live: Live) -> int:
    """How many turns a loop has."""
    over = access.evaluate(head.expression, live.namespace) if head.expression is not None else None
    if not isinstance(over, range):
        raise VerbRefused("The loop that trains goes over no range, so no checkpoint can say its place in it.")
    return len(over)


def training_loop(items: Iterable[Item]) -> Head | None:
    """The first loop of the program with a backward in it."""
    for item in items:
        if isinstance(item, Step):
            continue
        if item.block.kind == "for" and has_backward(item.body):
            return item
        if item.block.kind == "group" and (found := training_loop(item.body)) is not None:
            return found
    return None


def _parts(live: Live) -> Iterator[tuple[str, object]]:
    """What changes while a program learns, by name."""
    for name in live.binder:
        value = live.namespace.get(name)
        if is_part(value):
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
