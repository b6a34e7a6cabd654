"""Runs torchrun as long as whoever started it holds its standard input; then ends it, and all it has started.

A pipe ends with the process at its other end, however that ends, on every system and behind every line to a host. It
is started as a file, here and on hosts.
"""

import importlib
import os
import re
import runpy
import select
import selectors
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

GRACE_S = 30.0
"""So long processes may take to finish their step and keep a checkpoint, as torchrun's own; then they are killed."""
LAST_LINES_S = 5.0
"""So long what ranks have printed is waited for when they have ended."""
LOOK_S = 0.2
"""So often a file of metrics is looked at."""
FOLLOW = "--follow"
"""Before torchrun's options, with a path: lines of metrics that are put there are said, too."""
INTERRUPTED = 130
LOGS = "--log-dir"
"""Where torchrun keeps logs: else in a folder that it leaves behind when it is interrupted."""
LINE = "\x1fgradstudio metrics {}\x1e\n"
_READ_BYTES = 1 << 16
HOLD_S = 0.2
"""So long a line waits for its end, which other words must not come between."""
MOST_HELD = 1 << 16
"""Bytes of a line that wait for its end."""
FILES_OF_OWN = "/dev/fd"
"""Where an open file of this process has a path."""
_NAMED = rb"\[rank\d+\]:"
"""How torch begins its own lines of a rank."""
_NAMES = re.compile(_NAMED + rb" ?")
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'  File "(.*)", line (\d+), in .*')
_NOT_OWN = (f"{os.sep}site-packages{os.sep}", os.path.dirname(os.__file__), "<frozen ")
"""In paths of what a person has not written."""
_LOST_OTHERS = re.compile("Connection (?:closed|reset) by peer|Broken pipe|connection was aborted")
MOST_TEXT = 80
"""Letters of a statement that are said."""
_LINE_BEGINS = re.compile(rb"(?<=[\r\n])(?!" + _NAMED + rb")(?=[^\r\n])")


def main() -> None:
    """torchrun, with the arguments of this process."""
    follower = None
    if sys.argv[1:2] == [FOLLOW]:
        follower = Follower(Path(sys.argv[2]))
        del sys.argv[1:3]
    hold()
    run(follower, names_ranks=follower is None)


def with_logs(of_torchrun: Sequence[str], folder: Path) -> list[str]:
    """The options of torchrun, with one for logs in a folder where a person has not said where they are kept."""
    is_said = any(one.replace("_", "-").split("=", 1)[0] == LOGS for one in of_torchrun)
    return [*([] if is_said else [LOGS, str(folder)]), *of_torchrun]


def hold(quiet_s: float | None = None) -> None:
    """End with standard input from now on, or when nothing came for so long. Processes started later find no input."""
    source, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(source, quiet_s), daemon=True).start()


class Follower:
    """Says the lines that are put into a file from now on; one that begins anew is said from its beginning."""

    def __init__(self, path: Path) -> None:
        """Look at it again and again."""
        self._path, self._lock = path, threading.Lock()
        self._place = path.stat().st_size if path.is_file() else 0
        threading.Thread(target=self._follow, daemon=True).start()

    def look(self) -> None:
        """Say what is whole by now."""
        with self._lock:
            try:
                with self._path.open("rb") as file:
                    if file.seek(0, os.SEEK_END) < self._place:
                        self._place = 0
                    file.seek(self._place)
                    whole, end, _ = file.read().rpartition(b"\n")
            except OSError:
                return
            self._place += len(whole) + len(end)
            for line in whole.splitlines():
                os.write(1, LINE.format(line.decode("utf-8", "replace")).encode())

    def _follow(self) -> None:
        while True:
            self.look()
            time.sleep(LOOK_S)


class LastError:
    """The error by which a rank has ended, read from what it prints: the newest traceback.

    Attributes:
        words: the error as Python says it; "" where there was none.
        place: which line of the person's own files it came from, with its text.
    """

    def __init__(self) -> None:
        """Nothing was printed."""
        self.words = self.place = ""
        self._is_inside = self._is_own = False
        self._rest = b""

    def read(self, data: bytes) -> None:
        """More of what was printed, in whatever pieces."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._read_line(_NAMES.sub(b"", line).decode("utf-8", "replace").rstrip("\r"))
        self._rest = self._rest[-MOST_HELD:]

    def _read_line(self, line: str) -> None:
        if line == _TRACEBACK:
            self.words, self.place, self._is_inside, self._is_own = "", "", True, False
        elif not self._is_inside:
            return
        elif frame := _FRAME.fullmatch(line):
            self._is_own = not any(part in frame[1] for part in _NOT_OWN)
            self.place = f"line {frame[2]} of {os.path.basename(frame[1])}" if self._is_own else self.place
        elif not line.startswith(" ") and line:
            self.words, self._is_inside = line, False
        elif self._is_own:
            self.place, self._is_own = f"{self.place} ({line.strip()[:MOST_TEXT]})", False


class RankStream:
    """What one rank writes to one of its outputs, from a pipe: each line with the rank's number before it.

    A line is said when it is whole, or has waited for its end. A bar of progress is drawn over itself by a return of
    the carriage; where another rank has an unfinished line there, a new line is begun.
    """

    unfinished: ClassVar[dict[tuple[int, int], "RankStream"]] = {}
    """Whose line is unfinished, by the terminal or file that an output leads to: two may lead to one."""

    def __init__(self, rank: str, output: int, *, names_rank: bool = True) -> None:
        """To this output of ours; `names_rank`: with its number before each line."""
        self.reader, self.writer = os.pipe()
        self.rank, self.error = int(rank), LastError()
        self._mark, self._output = f"[rank {rank}] ".encode() if names_rank else b"", output
        found = os.fstat(output)
        self._place = (found.st_dev, found.st_ino)
        self._held, self._held_since, self._is_at_start = b"", 0.0, True

    def feed(self, data: bytes, now_s: float) -> None:
        """Say what is whole by now."""
        self.error.read(data)
        if not self._held:
            self._held_since = now_s
        held = self._held + data
        end = max(held.rfind(b"\n") + 1, held.rfind(b"\r"))  # a return goes with the words that it makes way for
        if len(held) - end > MOST_HELD:
            end = len(held)
        self._held, whole = held[end:], held[:end]
        if whole:
            self._held_since = now_s
            self._say(whole)

    def flush(self, now_s: float | None = None) -> None:
        """Say what has waited for its end; None: whatever there is."""
        if self._held and (now_s is None or now_s - self._held_since >= HOLD_S):
            held, self._held = self._held, b""
            self._say(held)

    @property
    def is_holding(self) -> bool:
        """Whether a line waits for its end."""
        return bool(self._held)

    def _say(self, data: bytes) -> None:
        words = self._begin(data) + _LINE_BEGINS.sub(self._mark, data)
        self._is_at_start = data.endswith((b"\r", b"\n"))
        self.unfinished[self._place] = self
        if data.endswith(b"\n"):
            del self.unfinished[self._place]
        while words:
            words = words[os.write(self._output, words) :]

    def _begin(self, data: bytes) -> bytes:
        """What stands before words, where they begin a line or another's is unfinished."""
        before = self.unfinished.get(self._place)
        if data.startswith((b"\r", b"\n")) or (before is self and not self._is_at_start):
            return b""
        mark = b"" if re.match(_NAMED, data) else self._mark
        return mark if before in (None, self) else b"\n" + mark


class RankLines:
    """Names the rank of each line that ranks of torchrun print, where there are several, and reads their errors.

    Attributes:
        errors: of each rank, by which it has ended.
    """

    def __init__(self, *, names_ranks: bool) -> None:
        """Take the place of the output that torchrun gives its processes, each time it starts them.

        WORKAROUND(torchrun asks for other outputs only packages that are installed, which an engine on a host is not;
        `--tee` reads lines from a file, and so shows no bar of progress before it ends).
        """
        specs = importlib.import_module("torch.distributed.elastic.multiprocessing.api").DefaultLogsSpecs
        self.errors: dict[int, LastError] = {}
        self._names_ranks = names_ranks
        self._streams: list[RankStream] = []
        self._thread: threading.Thread | None = None
        reify = specs.reify

        def with_pipes(own: Any, envs: dict[int, dict[str, str]]) -> Any:
            outputs = reify(own, envs)
            self._begin(outputs, envs)
            return outputs

        specs.reify = with_pipes

    def end(self) -> None:
        """Say what is left, when torchrun has come to its end; what a rank leaves behind is not waited for."""
        for stream in self._streams:
            os.close(stream.writer)
        if self._thread is not None:
            self._thread.join(LAST_LINES_S)
        self._streams, self._thread = [], None

    def _begin(self, outputs: Any, envs: dict[int, dict[str, str]]) -> None:
        self.end()
        self.errors = {}
        if not os.path.isdir(FILES_OF_OWN):
            return
        for local_rank, env in envs.items():
            for paths, output in ((outputs.stdouts, 1), (outputs.stderrs, 2)):
                if env.get("WORLD_SIZE", "1") != "1" and not paths[local_rank]:  # it is a file where somebody wants one
                    stream = RankStream(env["RANK"], output, names_rank=self._names_ranks)
                    paths[local_rank] = f"{FILES_OF_OWN}/{stream.writer}"
                    self._streams.append(stream)
                    if output == 2:
                        self.errors[stream.rank] = stream.error
        if self._streams:
            self._thread = threading.Thread(target=_relay, args=(list(self._streams),), daemon=True)
            self._thread.start()


def _relay(streams: list[RankStream]) -> None:
    """Until all have ended; where our output has, theirs does, too."""
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.reader, selectors.EVENT_READ, stream)
        while selector.get_map():
            is_holding = any(key.data.is_holding for key in selector.get_map().values())
            for key, _ in selector.select(HOLD_S if is_holding else None):
                if not _relay_one(key.data):
                    selector.unregister(key.fd)
                    os.close(key.fd)
            now_s = time.monotonic()
            for key in list(selector.get_map().values()):
                key.data.flush(now_s)


def _relay_one(stream: RankStream) -> bool:
    """Say what has come; whether more can."""
    try:
        data = os.read(stream.reader, _READ_BYTES)
        stream.feed(data, time.monotonic())
        if not data:
            stream.flush()
    except OSError:  # nobody reads our output any more
        return False
    return bool(data)


def run(follower: Follower | None, *, names_ranks: bool) -> None:
    """torchrun, to its end; all lines of metrics are said by then. `names_ranks`: what several print has their number.

    Where ranks have failed, one sentence says which, where and why, in place of torchrun's own traceback.

    Raises:
        SystemExit: it has failed.
    """
    lines = RankLines(names_ranks=names_ranks)
    elastic = importlib.import_module("torch.distributed.elastic.multiprocessing.errors")
    failed: Any = None
    try:
        runpy.run_module("torch.distributed.run", run_name="__main__", alter_sys=True)
    except elastic.ChildFailedError as error:
        failed = error
    finally:
        if follower is not None:
            follower.look()
        lines.end()
    if failed is not None:
        sys.stderr.write(f"\n{failure_words(failed, lines.errors)}\n")
        sys.exit(1)


def failure_words(failed: Any, errors: dict[int, LastError]) -> str:
    """Which ranks have failed, where and why, by what they printed last and torchrun's `ChildFailedError`.

    A rank that only lost the one that failed, or that torchrun ended for it, has not failed by itself.
    """
    first, failure = failed.get_first_failure()
    said = {rank: error for rank, error in sorted(errors.items()) if error.words}
    own = {rank: error for rank, error in said.items() if not _LOST_OTHERS.search(error.words)} or said
    if own:
        error = own.get(first) or next(iter(own.values()))
        ranks = [str(rank) for rank, one in own.items() if one.words == error.words]
        who = f"Rank {ranks[0]}" if len(ranks) == 1 else f"Ranks {', '.join(ranks[:-1])} and {ranks[-1]}"
        return f"{who} failed{f' at {error.place}' if error.place else ''}: {error.words}"
    if failure.exitcode < 0:
        return f"Rank {first} was ended by {failure.signal_name()}."
    return f"Rank {first} ended with code {failure.exitcode}; what it said stands above."


def _watch(source: int, quiet_s: float | None) -> None:
    while quiet_s is None or select.select([source], [], [], quiet_s)[0]:
        if not os.read(source, _READ_BYTES):
            break
    _end()


def _end() -> None:
    """Have torchrun end its processes, and kill who has not ended in time; this thread ends with the process."""
    import psutil  # torchrun that comes to its end needs it not

    own = psutil.Process()
    started = own.children(recursive=True)
    if hasattr(signal, "pthread_kill"):  # it also ends a call of the system that the main thread waits in
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
    time.sleep(GRACE_S)
    for one in {*started, *own.children(recursive=True)}:
        try:
            one.kill()
        except psutil.NoSuchProcess:
            continue
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
