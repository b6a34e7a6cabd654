"""Files that are no text, or no file: refused in words, in bounded time, never waited for."""

import os
from pathlib import Path

import pytest

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.python.python_document import MAX_BYTES, load_python


def refusal(path: Path) -> UnreadableFile:
    with pytest.raises(UnreadableFile) as caught:
        load_python(path)
    return caught.value


def written(folder: Path, data: bytes) -> Path:
    path = folder / "snippet.py"
    path.write_bytes(data)
    return path


def test_bytes_that_are_no_text_are_told_with_their_place(tmp_path: Path) -> None:
    error = refusal(written(tmp_path, b"x = 1\ny = '\xff\xfe'\n"))
    assert (error.line, error.column) == (2, 6)
    assert "UTF-8" in str(error)


def test_a_byte_order_mark_is_none_of_the_text(tmp_path: Path) -> None:
    read = load_python(written(tmp_path, b"\xef\xbb\xbfx = 1\r\ny = x\r\n"))
    assert [node.names for node in read.graph.nodes.values()] == [("x",), ("y",)]


@pytest.mark.parametrize("name", ["latin-1", "iso-8859-1", "ascii", "utf-8", "UTF8"])
def test_an_encoding_that_the_file_names_is_read(tmp_path: Path, name: str) -> None:
    text = "é" if "8859" in name or "latin" in name else "e"
    data = f"# -*- coding: {name} -*-\nx = '{text}'\n".encode("latin-1")
    read = load_python(written(tmp_path, data))
    assert next(iter(read.graph.nodes.values())).literals == {"value": f'"{text}"'}


@pytest.mark.parametrize("name", ["utf-7", "rot13", "unicode_escape", "cp037", "zip", "no-such-thing", "a" * 10_000])
def test_another_encoding_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    error = refusal(written(tmp_path, f"# coding: {name}\nx = 1\n".encode()))
    assert error.line == 1
    assert name[:40] in str(error)
    assert len(str(error)) < 200


def test_utf_16_is_no_text(tmp_path: Path) -> None:
    assert refusal(written(tmp_path, "x = 1\n".encode("utf-16"))).line == 1


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    assert "pipe" in str(refusal(pipe))
    endless = tmp_path / "endless.py"
    endless.symlink_to("/dev/zero")
    assert "device" in str(refusal(endless))
    folder = tmp_path / "folder.py"
    folder.mkdir()
    assert "directory" in str(refusal(folder))
    assert "cannot be read" in str(refusal(tmp_path / "absent.py"))
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    assert "cannot be read" in str(refusal(loop))


def test_a_link_to_a_text_is_read(tmp_path: Path) -> None:
    link = tmp_path / "link.py"
    link.symlink_to(written(tmp_path, b"x = 1\n"))
    assert len(load_python(link).graph.nodes) == 1


def test_more_than_can_be_a_text_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = written(tmp_path, b"")
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)  # a hole: it takes no room on the disk
    assert "5,000,000 characters" in str(refusal(path))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, b"x = 1\n")
    path.chmod(0)
    assert "cannot be read" in str(refusal(path))
