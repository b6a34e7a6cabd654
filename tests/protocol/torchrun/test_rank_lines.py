"""What ranks of torchrun print is said line by line, each with its rank; a bar of progress is drawn over itself."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstudio.protocol.torchrun.torchrun_entry import HOLD_S, RankStream


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
