"""The process that executes exported scripts, one after the other, each in a namespace of its own."""

import os
import sys
import warnings
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from tools.conformance.compare import plain_array
from tools.conformance.wire import Answer, Array, Ask, read_frame, write_frame


def main() -> None:
    """Answer until the pipe ends; what scripts print goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    while data := read_frame(sys.stdin.buffer):
        write_frame(answers, execute(msgspec.msgpack.decode(data, type=Ask)))


def execute(ask: Ask) -> Answer:
    """Run one script as Python runs a file, but for its report at the end."""
    namespace: dict[str, Any] = {"__name__": "exported", "__file__": f"{ask.folder}/program.py"}
    try:
        exec(compile(ask.script, "program.py", "exec"), namespace)  # noqa: S102 - the script that export writes
        answer = Answer([_array(_at(namespace[name], way)) for name, way in ask.outputs])
        answer.grads = _grads(namespace, ask.leaves)
        if ask.plain and ask.outputs:
            name, way = ask.outputs[0]
            answer.plain = repr(_at(namespace[name], way))
    except Exception as error:  # noqa: BLE001 - whatever the script raises is its answer
        return Answer(error=(type(error).__name__, str(error)))
    finally:
        torch.set_default_dtype(torch.float32)
    return answer


def _at(value: Any, way: tuple[int, ...]) -> Any:
    for step in way:
        value = value[step]
    return value


def _grads(namespace: dict[str, Any], leaves: list[str]) -> dict[str, Array | None]:
    grads: dict[str, Array | None] = {}
    for name in leaves:
        value = namespace[name]
        if isinstance(value, nn.Module):
            grads |= {f"{name}.{path}": _array(leaf.grad) for path, leaf in value.named_parameters()}
        else:
            grads[name] = _array(value.grad)
    return grads


def _array(value: Any) -> Array | None:
    if not isinstance(value, Tensor):
        return None
    array = plain_array(value)
    return Array(str(value.dtype), tuple(value.shape), array.dtype.str, array.tobytes())


if __name__ == "__main__":
    main()
