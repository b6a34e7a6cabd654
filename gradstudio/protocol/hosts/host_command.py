"""The command lines that start something in a host's Python, and what that Python says first.

Nothing is assumed of the far end but a Python: what runs there is a text of ours, given as ``-c``. It says
`greeting` before anything else, so that what a shell prints at its start is not taken for the engine.
"""

import json
import shlex
from typing import Final

from gradstudio.protocol.hosts.host_book import ENGINE, Host

SSH: Final = (
    *("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=3"),
    *("-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes"),
)
"""The system's OpenSSH: it asks nothing, ends four seconds after the line broke, and lends the far end nothing."""
MARK: Final = b"\x1fgradstudio "
MARK_END: Final = b"\x1e"
STARTS: Final = "engine"
"""What is between the two when an engine begins behind them; else the reason why none does."""

_COMMON: Final = """
import os, sys
os.environ["PYTHONSAFEPATH"] = "1"
sys.path[:] = [path for path in sys.path if path]
key = sys.argv.pop(1)
caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
kept = os.path.join(caches, "gradstudio")
folder = os.path.join(kept, key)
version = ".".join(map(str, sys.version_info[:3]))
def say(words):
    os.write(1, b"\\x1fgradstudio " + words.encode() + b"\\x1e")
def is_there(name):
    import importlib.util
    try:
        spec = importlib.util.find_spec(name)
    except ImportError:
        return False
    return spec is not None and spec.origin is not None
"""
"""Of every text: nothing beside the working directory is imported; where an engine that was sent lies.

A folder that an uninstalled package has left behind is no module.
"""

_START: Final = """
def lacks():
    if sys.version_info < (3, 11):
        return "python " + version
    if os.name != "posix":
        return "system " + sys.platform
    if os.path.isdir(folder):
        sys.path.insert(0, folder)
    needs = [name for name in ("torch", "numpy", "msgspec", "psutil", "safetensors") if not is_there(name)]
    if needs:
        return "lacks " + ", ".join(needs)
    return "" if is_there("gradstudio.engine") else "gradstudio"
reason = lacks()
say(reason or "engine")
if reason:
    sys.exit(3)
import gradstudio
if sys.path[0] == folder:
    del sys.path[0]
import runpy
porter = "gradstudio.protocol.hosts.porter"
runpy.run_module(porter if is_there(porter) else "gradstudio.engine", run_name="__main__")
"""
"""An engine that was installed long ago has no porter: it says itself of which version it is."""


def start_command(host: Host, key: str, *options: str) -> list[str]:
    """What starts the engine there: the one that was sent under that key, else the one that is installed."""
    return python_command(host, _START, key, *options)


def python_command(host: Host, text: str, key: str, *arguments: str) -> list[str]:
    """What runs a text in the host's Python, with the names of `_COMMON`; `arguments` are its `sys.argv`."""
    words = ["-c", f"exec({json.dumps(_COMMON + text)})", key, *arguments]
    in_shell = " ".join([host.python, *map(shlex.quote, words)])
    if host.destination:
        return [*SSH, "--", host.destination, in_shell]
    prefix = shlex.split(host.command)
    if any(ENGINE in word for word in prefix):
        return [word.replace(ENGINE, in_shell) for word in prefix]
    return [*prefix, *shlex.split(host.python), *words]


def needs_install(packages: str, host: Host) -> str:
    """The one command that installs packages there."""
    line = f"{host.python} -m pip install {' '.join(packages.replace(',', ' ').split())}"
    return f"ssh {host.destination} {shlex.quote(line)}" if host.destination else f"{host.command} {line}"


def refusal(host: Host, reason: str) -> str:
    """Why no engine begins there, in words, from what stood behind the mark."""
    kind, _, rest = reason.partition(" ")
    if kind == "python":
        return f"The Python on “{host.name}” is {rest}; GradStudio needs 3.11 or newer. Name another: --python PATH."
    if kind == "system":
        return f"The host “{host.name}” has the system {rest}; engines run on hosts with Linux or macOS."
    if kind == "gradstudio":
        return f"This version's engine is not on “{host.name}”. Send it: gradstudio hosts check {host.name} --send"
    if kind == "lacks":
        return f"The Python on “{host.name}” lacks {rest}. Install there: {needs_install(rest, host)}"
    return f"No engine starts on “{host.name}”: it says {reason[:200]!r}."
