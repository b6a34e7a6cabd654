"""Where the processes of a training meet: how many on how many machines, and the line of torchrun for each."""

import re
import shlex
import uuid
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import msgspec

BACKENDS: Final = ("c10d", "static", "etcd-v2")
STATIC: Final = BACKENDS[1]
"""Each machine is told its number."""
PORT: Final = 29400
"""torchrun's own for c10d."""
LARGEST_PORT: Final = 65535
MOST_MACHINES: Final = 10_000
MOST_COMMANDS: Final = 64
TORCHRUN: Final = "torchrun"

_ENDPOINT: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?):([0-9]+)")


class Rendezvous(msgspec.Struct, frozen=True):
    """As torchrun takes it.

    Attributes:
        nodes: how many machines: a number, or MIN:MAX.
        per_node: processes on each: a number, or auto, gpu, cpu.
        endpoint: HOST:PORT of the machine where all meet.
        backend: one of `BACKENDS`.
        key: what tells this training from others that meet there.
    """

    nodes: str = "2"
    per_node: str = "1"
    endpoint: str = ""
    backend: str = BACKENDS[0]
    key: str = ""

    @property
    def machines(self) -> int:
        """How many machines there are at most."""
        return int(self.nodes.rpartition(":")[2])

    def problems(self) -> dict[str, str]:
        """What is wrong, by the name of the field."""
        found = {
            "nodes": nodes_problem(self.nodes),
            "per_node": per_node_problem(self.per_node),
            "endpoint": endpoint_problem(self.endpoint),
        }
        if self.backend == STATIC and ":" in self.nodes:
            found["nodes"] = "static takes one number; MIN:MAX is for the others."
        return {name: words for name, words in found.items() if words}

    def options(self, machine: int = 0) -> list[str]:
        """What torchrun is told on one of the machines, the first is 0."""
        words = ["--nnodes", self.nodes, "--nproc-per-node", self.per_node]
        words += ["--rdzv-id", self.key] if self.key else []
        words += ["--rdzv-backend", self.backend, "--rdzv-endpoint", self.endpoint]
        return [*words, "--node-rank", str(machine)] if self.backend == STATIC else words

    def commands(self, script: str, of_script: str = "") -> list[str]:
        """The line of a shell for each machine; they differ for `STATIC` alone. `of_script` stays as it is."""
        count = min(self.machines, MOST_COMMANDS)
        lines = [shlex.join([TORCHRUN, *self.options(machine), script]) for machine in range(count)]
        return [f"{line} {of_script}".rstrip() for line in lines]


def new_key() -> str:
    """An id that no other training has."""
    return uuid.uuid4().hex[:8]


def nodes_problem(text: str) -> str:
    """Why it is no number of machines; "" when it is one."""
    words = text.split(":")
    numbers = [int(word) for word in words if word.isascii() and word.isdecimal()]
    if len(numbers) != len(words) or len(words) > 2:
        return f"“{text}” is no number of machines: 2, or 1:4." if text else "How many machines?"
    if not 1 <= numbers[0] <= numbers[-1] <= MOST_MACHINES:
        return f"“{text}”: from 1 to {MOST_MACHINES:,}, MIN:MAX in this order."
    return ""


def per_node_problem(text: str) -> str:
    """Why it is no number of processes; "" when it is one."""
    if text in ("auto", "gpu", "cpu", "xpu"):
        return ""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= MOST_MACHINES:
        return f"“{text}” is no number of processes: from 1, or gpu."
    return ""


def options_problem(of_torchrun: Sequence[str]) -> str:
    """What is wrong with options of torchrun that say how many, with the option's name; "" when nothing is.

    A name may have underscores, and stand before "=".
    """
    words = [word for one in of_torchrun for word in one.split("=", 1)]
    for name, value in pairwise(words):
        problem = _OF_OPTIONS.get(name.replace("_", "-"))
        if problem is not None and (said := problem(value)):
            return f"{name} {said}"
    return ""


def endpoint_problem(text: str) -> str:
    """Why nobody can meet there; "" when they can."""
    if not text:
        return "Where do they meet? HOST:PORT of one of them."
    found = _ENDPOINT.fullmatch(text)
    if found is None:
        return f"“{text}” is no HOST:PORT, like gpu1:{PORT}."
    if not 1 <= int(found.group(3)[:6]) <= LARGEST_PORT:
        return f"There is no port {found.group(3)}: ports are 1 to {LARGEST_PORT}."
    return ""


def script_words(text: str) -> list[str] | None:
    """The options of a script as a shell takes them apart; None where a quote is left open."""
    try:
        return shlex.split(text)
    except ValueError:
        return None


_OF_OPTIONS: Final[dict[str, Callable[[str], str]]] = {
    "--nnodes": nodes_problem,
    "--nproc-per-node": per_node_problem,
}
