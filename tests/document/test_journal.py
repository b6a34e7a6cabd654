import gc
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from gradstudio.document import file
from gradstudio.document.errors import CannotSave, UnreadableFile
from gradstudio.document.file import View
from gradstudio.document.journal import Journal, recoverable
from gradstudio.document.stored_tensors import stored_tensor
from tests.document.test_file import small_graph


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "recovery"


def left_behind(folder, graph, document=None, view=None):
    journal = Journal(folder)
    journal.write(graph, document, view)
    journal.close()
    return journal


def test_nothing_is_recovered_where_nothing_was_written(folder):
    Journal(folder)
    assert recoverable(folder) == []


def test_what_was_left_behind_is_found_with_its_document_and_view(folder, tmp_path):
    graph = small_graph()
    tensor = stored_tensor(b"abcd", "uint8", (4,))
    graph.tensors[tensor.digest] = tensor
    left_behind(folder, graph, tmp_path / "a.gsg", View(2.0, 3.0, 4.0))
    (found,) = recoverable(folder)
    again, view = found.load()
    assert (found.document, view) == (tmp_path / "a.gsg", View(2.0, 3.0, 4.0))
    assert file.dumps(again) == file.dumps(graph)
    assert again.tensors == graph.tensors


def test_a_journal_whose_program_lives_is_not_offered(folder):
    journal = Journal(folder)
    journal.write(small_graph(), None)
    assert recoverable(folder) == []
    journal.close()
    assert [one.document for one in recoverable(folder)] == [None]


def test_discarding_leaves_nothing(folder):
    graph = small_graph()
    tensor = stored_tensor(b"abcd", "uint8", (4,))
    graph.tensors[tensor.digest] = tensor
    journal = Journal(folder)
    journal.write(graph, None)
    journal.discard()
    assert list(folder.iterdir()) == []
    left_behind(folder, graph)
    recoverable(folder)[0].discard()
    assert list(folder.iterdir()) == []


def test_after_discarding_the_journal_can_be_written_again(folder):
    journal = Journal(folder)
    journal.write(small_graph(), None)
    journal.discard()
    journal.write(small_graph(), None)
    journal.close()
    assert len(recoverable(folder)) == 1


def test_the_newest_comes_first(folder, tmp_path):
    for name in ("old", "new"):
        left_behind(folder, small_graph(), tmp_path / name)
    assert [one.document.name for one in recoverable(folder)] == ["new", "old"]


def test_what_is_no_journal_is_passed_over_and_a_damaged_one_says_so(folder):
    journal = left_behind(folder, small_graph())
    (folder / "other.recovery").write_bytes(b"\xff garbage")
    (folder / "list.recovery").write_text("[]\n")
    journal.path.write_text(journal.path.read_text()[:-30])
    (found,) = recoverable(folder)
    with pytest.raises(UnreadableFile):
        found.load()
    journal.path.unlink()
    with pytest.raises(UnreadableFile, match="cannot be read"):
        found.load()


def test_a_folder_that_cannot_be_used_says_so(tmp_path):
    (tmp_path / "a file").write_text("")
    with pytest.raises(CannotSave, match="recovery folder"):
        Journal(tmp_path / "a file").write(small_graph(), None)


def test_killed_at_any_moment_the_last_state_written_is_found(folder, tmp_path):
    child = subprocess.Popen([sys.executable, "-c", JOURNAL_FOR_EVER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout:
        for _ in range(30):
            told = int(child.stdout.readline())
        assert recoverable(folder) == []
        child.send_signal(signal.SIGKILL)
        child.wait()
    (found,) = recoverable(folder)
    graph, _ = found.load()
    assert graph.header.seed >= told


JOURNAL_FOR_EVER = """
import sys
from pathlib import Path
from gradstudio.document.journal import Journal
from gradstudio.graph.model import Graph, Header
journal, graph = Journal(Path(sys.argv[1])), Graph()
for number in range(10**9):
    graph.header = Header(seed=number)
    journal.write(graph, Path("/somewhere/a.gsg"))
    print(number, flush=True)
"""


def test_a_journal_that_nobody_closes_lets_go_of_its_lock(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(small_graph(), None)
    assert recoverable(tmp_path) == []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        del journal
        gc.collect()
    assert not [one for one in said if issubclass(one.category, ResourceWarning)]
    assert len(recoverable(tmp_path)) == 1
