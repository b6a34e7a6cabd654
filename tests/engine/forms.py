"""Runs a form and the script of one program, and compares what they compute, bit for bit."""

import contextlib
import io
import json
import os
import re
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

import numpy
import torch

Names = dict[str, Any]


def run_text(text: str, folder: Path) -> tuple[Names, list[Names], str]:
    """The names of a file that was run as a program, the locals of each `forward` of its last class, and its error."""
    path, own = folder / "program.py", last_class(text)
    namespace: Names = {"__name__": "__main__", "__file__": str(path)}
    passes: list[Names] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "return" or code.co_name != "forward" or code.co_filename != str(path):
            return
        if type(frame.f_locals.get("self")).__name__ == own:
            passes.append(dict(frame.f_locals))

    failed = ""
    before_folder = Path.cwd()
    os.chdir(folder)  # a notebook finds its tensors there
    before = torch.get_default_dtype()
    torch.manual_seed(0)  # for programs that set no seed themselves
    numpy.random.seed(0)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's and numpy's words on what the snippet does
        try:
            sys.setprofile(watch)
            exec(compile(text, str(path), "exec"), namespace)
        except RuntimeError as error:
            failed = str(error)
        finally:
            sys.setprofile(None)
            os.chdir(before_folder)
            torch.set_default_dtype(before)
    return namespace, passes, failed


def last_class(text: str) -> str:
    """The name of the class that a form is; the definitions of its groups stand above it."""
    return next(reversed(re.findall(r"^class (\w+)", text, re.MULTILINE)), "")


def cells(notebook: str) -> str:
    """The code cells of a notebook as one program, in their order."""
    found = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    return "\n".join("".join(cell["source"]) for cell in found)


def differences(script: str, form: str, folder: Path) -> list[str]:
    """The names of the script whose values or gradients the form does not give."""
    wanted, _, error = run_text(script, folder)
    found, passes, form_error = run_text(form, folder)
    wrong = [f"error {form_error!r} for {error!r}"] if error != form_error else []
    model = next((v for v in reversed(list(found.values())) if type(v).__name__ == last_class(form)), None)
    for name, value in wanted.items():
        if not isinstance(value, torch.Tensor) or name.startswith("__"):
            continue
        places = [getattr(model, name, None), getattr(model, f"{name}_", None), found.get(name)]
        places += [one.get(local) for one in passes[-1:] for local in (name, f"{name}_")]
        if not any(_same(value, place) for place in places if isinstance(place, torch.Tensor)):
            wrong.append(name)
    return wrong


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.is_leaf and one.requires_grad and not (other.is_leaf and _same_bits(one.grad, other.grad)):
        return False
    return one.requires_grad == other.requires_grad and _same_bits(one, other)


def _same_bits(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    return bytes_of(one) == bytes_of(other)


def bytes_of(tensor: torch.Tensor) -> bytes:
    """All that a tensor holds, NaN as it is."""
    return tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
