"""The walls around programs that people open, as they stand in this process (``docs/trust.md``)."""

import contextlib
import ctypes
import glob
import importlib.util
import os
import stat
import sys
import tempfile
from typing import Final

import torch

from gradstudio.engine import memory_guards
from gradstudio.engine.audit_wall import wall
from gradstudio.engine.kernel import landlock, seccomp
from gradstudio.engine.meta.fake_tensors import WarmUp
from gradstudio.protocol.process_group import RUNS_CODE

LIST: Final = "list by type"
HOOK: Final = "audit hook"
NO_PRIVILEGES: Final = "no new privileges"
FILES: Final = "Landlock"
CALLS: Final = "seccomp"
LEFT_OUT: Final = "GRADSTUDIO_WITHOUT_KERNEL_WALLS"
"""A variable of the environment; set, the kernel refuses nothing either."""
_LOADED_LATER: Final = "sympy"
"""What inference loads when it begins."""
_PR_SET_NO_NEW_PRIVS: Final = 38
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm")
_OF_GPU: Final = ("/dev/nvidia*", "/dev/nvhost*", "/dev/nvgpu*", "/dev/nvmap", "/dev/nvsciipc", "/dev/dri", "/dev/dxg")
_CACHES: Final = (
    ("CUDA_CACHE_PATH", "HOME", ".nv/ComputeCache"),
    ("PYTORCH_KERNEL_CACHE_PATH", "XDG_CACHE_HOME", "torch/kernels"),
    ("PYTORCH_KERNEL_CACHE_PATH", "HOME", ".cache/torch/kernels"),
)
"""Where the drivers of NVIDIA and torch keep the code that they made for a GPU: a variable, or a folder within one."""


def build_walls() -> tuple[str, ...]:
    """Build what this system has; their names, as `gradstudio info` tells them."""
    has_none_to_gain = _gain_no_privileges()  # ctypes is used before the hook refuses it to programs
    memory_guards.stand()
    of_kernel = _kernel_walls() if has_none_to_gain else ()
    with contextlib.suppress(FileNotFoundError):  # there is none: torch says so when it matters
        tempfile.gettempdir()  # it writes a file to find out, which the hook would refuse to torch's own modules
    wall.build()
    return (LIST, HOOK, *((NO_PRIVILEGES,) if has_none_to_gain else ()), *of_kernel)


def _gain_no_privileges() -> bool:
    """On Linux nothing that this process starts, ever, gets more rights than it has: no setuid, no capabilities."""
    if sys.platform != "linux":
        return False
    try:
        result: int = ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    except (OSError, AttributeError):
        return False
    return result == 0


def _kernel_walls() -> tuple[str, ...]:
    """What the kernel refuses from now on; nothing where the drivers of a device may need what nobody has tried."""
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    has_gpu = accelerator is not None
    is_known = not has_gpu or (accelerator is not None and accelerator.type == "cuda" and torch.version.hip is None)
    if not is_known or RUNS_CODE in sys.argv or os.environ.get(LEFT_OUT):
        return ()
    if _is_to_be_compiled(_LOADED_LATER):
        WarmUp().finish()  # while Python may still write what it compiles: else each start would compile it again
    is_confined = landlock.confine(_writable(has_gpu=has_gpu))
    refuses = seccomp.refuse_calls(has_gpu=has_gpu)
    return (*((FILES,) if is_confined else ()), *((CALLS,) if refuses else ()))


def _writable(*, has_gpu: bool) -> list[str]:
    """What the engine may still write: devices that are no disk, memory of its own, and what drivers keep."""
    paths = list(_DEVICES)
    with contextlib.suppress(OSError):  # there is no room for one: torch copes, or says so when it matters
        paths.append(_own_folder())
    if has_gpu:
        paths += [path for pattern in _OF_GPU for path in glob.glob(pattern)]
        paths += _caches()
    return paths


def _own_folder() -> str:
    """A folder for what torch's own modules want to put aside when they are loaded; one for all engines of a user."""
    folder = os.path.join(tempfile.gettempdir(), f"gradstudio-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        folder = tempfile.mkdtemp(prefix="gradstudio-")  # somebody else was here first
    tempfile.tempdir = os.environ["TMPDIR"] = folder
    return folder


def _caches() -> list[str]:
    """The folders of compiled code, made where they are not there yet: torch and the driver then keep it."""
    found = []
    for own, parent, within in _CACHES:
        path = os.environ.get(own) or (os.path.join(os.environ[parent], within) if os.environ.get(parent) else "")
        if path:
            with contextlib.suppress(OSError):
                os.makedirs(path, exist_ok=True)
            found.append(path)
    return found


def _is_to_be_compiled(name: str) -> bool:
    """Whether a package was installed without being compiled, and Python would keep what it compiles."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.cached is None or spec.origin is None or sys.dont_write_bytecode:
        return False
    return not os.path.exists(spec.cached) and os.access(os.path.dirname(spec.origin), os.W_OK)
