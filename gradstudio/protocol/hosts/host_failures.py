"""Why a host did not answer, or answers no more, in words with what to do: from ssh's own words and exit codes."""

import re
import signal
from typing import Final

from gradstudio.protocol.errors import HostFailed
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.process_group import OF_SIGNAL

OF_SSH: Final = 255
"""The exit code of ssh when it is ssh that failed, or that lost the line."""
GONE: Final = 6
"""The exit code of a visitor who found no engine of the name any more."""
LET_GO: Final = 7
"""That of one whose line was let go, for it was not heard for long: the engine goes on."""
NOT_FOUND: Final = 127
LAST_SIGNAL: Final = 64
LAST_WORDS: Final = 4000
"""So many characters of what was written to standard error are looked at."""

_BEFORE: Final = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its key is another than the one ssh knows: it was set up anew, or it is not that machine. Ask whoever runs "
        "it, and only then: ssh-keygen -R {host}",
    ),
    (
        r"Host key verification failed|No \S+ host key is known",
        "ssh does not know its key yet. Connect once in a terminal, and look at the key that it shows: ssh {to}",
    ),
    (
        r"Permission denied|Too many authentication failures|No supported authentication methods",
        "it lets nobody in with the keys that are here. Load your key (ssh-add), or put it there: ssh-copy-id {to}",
    ),
    (r"Could not resolve hostname", "no machine has that name. Is it spelled so, and is the network there?"),
    (r"Connection refused", "no ssh server answers there. Is it the right machine and port?"),
    (r"[Tt]imed out|No route to host|Network is unreachable", "it cannot be reached. Is the network there, the VPN?"),
    (r"Bad owner or permissions|Bad configuration option|terminating, \d+ bad", "ssh refuses its configuration."),
)
"""What ssh says, and what it means."""
_PYTHON: Final = r"not found|[Nn]o such file|nicht gefunden|introuvable|executable file"


_TRACEBACK: Final = "Traceback (most recent call last)"
BESIDE: Final = "Send the engine (--send) puts one of this version beside it; torch has to be whole there."


def unreachable(host: Host, program: str, error: OSError) -> HostFailed:
    """There is no such program here."""
    return HostFailed(f"The host “{host.name}” cannot be reached: {program}: {error.strerror}")


def start_failure(host: Host, code: int | None, errors: str, noise: str) -> str:
    """Why no engine came: the process that leads to the host ended before."""
    words = errors.strip()[-LAST_WORDS:]
    opening = f"The host “{host.name}” ({host.where}) cannot be used"
    if host.destination and code == OF_SSH:
        for pattern, meaning in _BEFORE:
            if re.search(pattern, words):
                name = host.destination.rpartition("@")[2]
                return f"{opening}: {meaning.format(host=name, to=host.destination)}\n{words}"
        return f"{opening}: ssh ended.\n{words}".rstrip()
    if code == NOT_FOUND or re.search(_PYTHON, words):
        return f"{opening}: “{host.python}” is not found there. Name its Python: --python PATH.\n{words}".rstrip()
    how = "it was ended" if code is None or code < 0 else f"it ended with code {code}"
    if _TRACEBACK in words:
        last = words.splitlines()[-1].strip()
        return f"{opening}: what is installed there does not start, {how}.\n{last}\n{BESIDE}"
    said = "\n".join(text for text in (noise[:LAST_WORDS], words) if text)
    return f"{opening}: {how}.\n{said}".rstrip()


def loss(host: Host, code: int | None, errors: str) -> str:
    """How an engine was lost that had begun."""
    words = errors.strip()[-LAST_WORDS:]
    if host.destination and (code is None or code < 0):
        return f"The line to “{host.name}” is broken: ssh was ended here."
    if host.destination and code == OF_SSH:
        last = "".join(words.splitlines(keepends=True)[-1:])
        return f"The line to “{host.name}” is broken.\n{last}".rstrip()
    if code is not None and OF_SIGNAL < code <= OF_SIGNAL + LAST_SIGNAL:
        killed = code - OF_SIGNAL
        why = ", as a system does that runs out of memory" if killed == signal.SIGKILL else ""
        return f"The engine on “{host.name}” was killed there by signal {killed}{why}."
    how = "was ended" if code is None or code < 0 else f"ended with code {code}"
    return f"The engine on “{host.name}” {how}."
