"""A training script under torchrun on a host, for whoever is on the line; what it has learnt goes back. Runs there."""

import base64
import hashlib
import os
import sys
from pathlib import Path, PurePosixPath
from typing import Final, cast

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import LARGEST_FAR_FRAME, Decoder, encode
from gradstudio.protocol.hosts.tensor_stock import OWNER, TensorDesk, TensorStock, cache_folder
from gradstudio.protocol.messages.hosting import Beat, Lacking, Needs, Piece, TrainThere
from gradstudio.protocol.torchrun import torchrun_entry
from gradstudio.protocol.torchrun.training_lines import MARK_END, PART_BYTES, PART_MARK
from gradstudio.temporary_folders import TemporaryFolder

SUFFIX: Final = ".safetensors"
_READ_BYTES: Final = 1 << 18


def train_there(quiet_s: float) -> None:
    """Take the files, run torchrun in their folder, and send back what was learnt.

    A line on which nobody was heard for `quiet_s` is broken: all ends.

    Raises:
        BrokenFrame: what comes is no order.
        SystemExit: the training has failed.
    """
    order, files = _receive()
    folder = cache_folder() / "trainings" / order.name
    _lay(folder, {place: files[digest] for place, digest in order.files.items()})
    os.chdir(folder)
    os.environ.pop("PYTHONSAFEPATH", None)  # the script is run as any other
    with TemporaryFolder("train") as logs:
        of_torchrun = torchrun_entry.with_logs(order.of_torchrun, logs)
        sys.argv = ["torchrun", *of_torchrun, order.script, *order.of_script]
        follower = torchrun_entry.Follower(folder / order.lines) if order.lines else None
        torchrun_entry.hold(quiet_s)
        try:
            torchrun_entry.run(follower, names_ranks=order.names_ranks)
        finally:
            _send_back(folder, order.files)


def _receive() -> tuple[TrainThere, dict[str, bytes]]:
    desk, stock = TensorDesk(TensorStock()), dict[str, bytes]()
    union = cast(type[Needs | Piece | Beat | TrainThere], Needs | Piece | Beat | TrainThere)
    decoder = Decoder(union, LARGEST_FAR_FRAME)
    while data := os.read(0, _READ_BYTES):
        for message in decoder.feed(data):
            if isinstance(message, Needs):
                found, lacking = desk.look(message)
                stock |= found
                _write(encode(Lacking(digests=lacking)))
            elif isinstance(message, Piece):
                found, _why_not_kept = desk.take(message)
                stock |= found
            elif isinstance(message, TrainThere):
                return message, stock
    raise BrokenFrame("The line ended before there was anything to train.")


def _lay(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a folder for their owner alone.

    Raises:
        BrokenFrame: one is to lie elsewhere.
    """
    for place, data in files.items():
        path = PurePosixPath(place)
        if path.is_absolute() or ".." in path.parts:
            raise BrokenFrame(f"A file is to lie outside of its folder: {place!r}.")
        (folder / path).parent.mkdir(OWNER, parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def _send_back(folder: Path, before: dict[str, str]) -> None:
    """Say the checkpoints that lie there now, and did not before (digests), in lines between marks."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        data = path.read_bytes()
        if before.get(path.name) == hashlib.sha256(data).hexdigest():
            continue
        for place in range(0, len(data), PART_BYTES):
            _say(path.name, len(data), data[place : place + PART_BYTES])


def _say(name: str, size: int, part: bytes) -> None:
    words = f"{name} {size} ".encode() + base64.b64encode(part)
    _write(PART_MARK + words + MARK_END + b"\n")


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]
