"""What ranks of torchrun print is said line by line, each with its rank; a bar of progress is drawn over itself."""

import os
import signal
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure

from gradstudio.protocol.torchrun.torchrun_entry import HOLD_S, LastError, RankStream, failure_words


class Output:
    """A file that two ranks write to."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, os.open(path, os.O_WRONLY | os.O_CREAT)
        self.ranks = [RankStream(str(rank), self._file) for rank in range(2)]

    def said(self) -> str:
        return self._path.read_bytes().decode()

    def close(self) -> None:
        for rank in self.ranks:
            os.close(rank.reader)
            os.close(rank.writer)
        os.close(self._file)


@pytest.fixture
def output(tmp_path: Path) -> Iterator[Output]:
    found = Output(tmp_path / "said")
    yield found
    found.close()


def test_pieces_of_lines_that_ranks_write_at_once_are_put_together(output: Output) -> None:
    first, second = output.ranks
    for piece in (b"loss", b" ", b"1.5", b"\n\nnext\nthe re"):
        first.feed(piece, 0.0)
        second.feed(piece, 0.0)
    assert output.said() == "".join(f"[rank {rank}] loss 1.5\n\n[rank {rank}] next\n" for rank in range(2))


def test_a_line_without_an_end_is_said_after_a_while_and_another_rank_begins_a_new_one(output: Output) -> None:
    first, second = output.ranks
    first.feed(b"epoch 1: ", 0.0)
    first.flush(HOLD_S / 2)
    assert output.said() == ""
    first.flush(HOLD_S)
    first.feed(b"half ", HOLD_S)
    first.flush()
    assert output.said() == "[rank 0] epoch 1: half "
    second.feed(b"warned\n", HOLD_S)
    first.feed(b"done\n", HOLD_S)
    assert output.said() == "[rank 0] epoch 1: half \n[rank 1] warned\n[rank 0] done\n"


def test_a_bar_of_progress_is_drawn_over_itself_and_other_words_leave_it(output: Output) -> None:
    first, second = output.ranks
    for share in ("10", "20", "30"):
        first.feed(f"\r{share}%".encode(), 0.0)
    first.flush()
    assert output.said() == "\r[rank 0] 10%\r[rank 0] 20%\r[rank 0] 30%"
    second.feed(b"step 3\r\n", 0.0)
    first.feed(b"\r40%\n", 0.0)
    assert output.said().endswith("30%\n[rank 1] step 3\r\n\r[rank 0] 40%\n")


def test_a_line_in_which_torch_names_the_rank_stays_as_it_is(output: Output) -> None:
    output.ranks[1].feed(b"[rank1]: Traceback\n[rank1]:   File\nwords\n", 0.0)
    assert output.said() == "[rank1]: Traceback\n[rank1]:   File\n[rank 1] words\n"


def test_a_line_without_end_is_not_kept_without_end(output: Output) -> None:
    output.ranks[0].feed(b"x" * 100_000, 0.0)
    assert output.said() == "[rank 0] " + "x" * 100_000 and not output.ranks[0].is_holding


def error_of(words: Exception) -> LastError:
    """As a rank prints it, in pieces: torch names the rank on each line of one that has joined others."""
    made = LastError()
    text = "".join(f"[rank1]: {line}" for line in "".join(traceback.format_exception(words)).splitlines(keepends=True))
    for piece in (text[:40], text[40:90], text[90:]):
        made.read(piece.encode())
    return made


def raised(words: str) -> Exception:
    try:
        raise RuntimeError(words)
    except RuntimeError as error:
        return error


def failed(*codes: int) -> ChildFailedError:
    return ChildFailedError("net.py", {rank: ProcessFailure(rank, 7, code, "") for rank, code in enumerate(codes)})


def test_who_failed_where_and_why_is_one_sentence() -> None:
    own, lost = error_of(raised("mat1 and mat2")), error_of(raised("Connection closed by peer [127.0.0.1]:1"))
    words = failure_words(failed(1, 1), {0: lost, 1: own})
    assert words.startswith("Rank 1 failed at line ")
    assert words.endswith("of test_rank_lines.py (raise RuntimeError(words)): RuntimeError: mat1 and mat2")
    assert failure_words(failed(1, 1), {0: own, 1: own}).startswith("Ranks 0 and 1 failed at line ")
    assert failure_words(failed(-signal.SIGKILL), {0: LastError()}) == "Rank 0 was ended by SIGKILL."
    assert failure_words(failed(3), {}) == "Rank 0 ended with code 3; what it said stands above."


def test_a_warning_that_was_printed_before_is_no_error() -> None:
    made = error_of(raised("first, which was caught"))
    made.read(b'a line behind it\nTraceback (most recent call last):\n  File "net.py", line 3, in main\n    x[9]\n')
    assert made.words == ""
    made.read(b"IndexError: index 9 is out of bounds\n")
    assert (made.place, made.words) == ("line 3 of net.py (x[9])", "IndexError: index 9 is out of bounds")
