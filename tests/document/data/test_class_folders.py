"""The files of a folder of pictures: which are taken, which are left out with why, and when it is refused."""

import os
from pathlib import Path

import pytest

from gradstudio.document.data import class_folders
from gradstudio.document.data.class_folders import PictureFiles, picture_files
from gradstudio.document.data.model import Progress
from gradstudio.document.errors import BadData
from gradstudio.graph.slices import work_through


def put(folder: Path, *names: str, data: bytes = b"picture") -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def read(folder: Path, *most: int) -> PictureFiles:
    return work_through(picture_files(folder, *most))


def test_each_folder_is_a_class_in_the_order_of_names(tmp_path: Path) -> None:
    found = read(put(tmp_path, "dogs/2.png", "dogs/1.JPG", "cats/a.bmp", "dogs/.hidden.png", "cats/Thumbs.db"))
    assert found.classes == ("cats", "dogs") and found.left_out == ()
    assert [(one.name, one.label) for one in found.files] == [("cats/a.bmp", 0), ("dogs/1.JPG", 1), ("dogs/2.png", 1)]
    assert {one.data for one in found.files} == {b"picture"}


def test_how_far_it_is_is_said_at_each_file(tmp_path: Path) -> None:
    put(tmp_path, "a/1.png", "a/2.txt", "b/3.png")
    steps = list(picture_files(tmp_path))
    assert steps == [Progress("files", 1, 3), Progress("files", 2, 3), Progress("files", 3, 3)]


def test_what_is_no_picture_is_left_out_and_said_why(tmp_path: Path) -> None:
    put(tmp_path, "a/1.png", "a/notes.txt", "loose.png")
    put(tmp_path, "a/none.png", data=b"")
    (tmp_path / "a" / "deep").mkdir()
    os.symlink(tmp_path / "a" / "1.png", tmp_path / "a" / "link.png")
    os.symlink(tmp_path / "a", tmp_path / "again")
    os.mkfifo(tmp_path / "a" / "pipe.png")
    found = read(tmp_path)
    assert [one.name for one in found.files] == ["a/1.png"] and found.classes == ("a",)
    assert set(found.left_out) == {
        "a/notes.txt (not called a picture)",
        "a/none.png (empty)",
        "a/deep (a folder within a class)",
        "a/link.png (a link, which is not followed)",
        "a/pipe.png (not an ordinary file)",
        "again (a link, which is not followed)",
        "loose.png (in no folder of a class)",
    }


def test_a_folder_without_pictures_and_one_that_is_not_there_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "a/1.txt", "a/2.txt", "a/3.txt", "a/4.txt", "a/5.txt")
    with pytest.raises(
        BadData, match=r"holds pictures\..* Left out: a/1\.txt .*, a/4\.txt \(not called a picture\) …\."
    ):
        read(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadData, match=r"dogs/1\.png\.$"):
        read(tmp_path / "empty")
    with pytest.raises(BadData, match="'gone' cannot be read"):
        read(tmp_path / "gone")


def test_too_large_and_too_many_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a/1.png", "a/2.png", "b/3.png")
    monkeypatch.setattr(class_folders, "MOST_CLASSES", 1)
    with pytest.raises(BadData, match="holds more than 1 classes"):
        read(tmp_path, 5)
    monkeypatch.setattr(class_folders, "MOST_FILES", 1)
    with pytest.raises(BadData, match="'a' holds more than 1 files"):
        read(tmp_path, 1)
    monkeypatch.setattr(class_folders, "MOST_FILES", 2)
    with pytest.raises(BadData, match="holds more than 2 pictures"):
        read(tmp_path, 5)
    monkeypatch.undo()
    monkeypatch.setattr(class_folders, "LARGEST_FOLDER", 10)
    with pytest.raises(BadData, match=r"more than 0 MB\. Keep fewer, or smaller ones"):
        read(tmp_path)
    monkeypatch.setattr(class_folders, "LARGEST_FILE", 3)
    with pytest.raises(BadData, match=r"a/1\.png \(more than 0 MB\)"):
        read(tmp_path)


def test_the_first_of_them_are_enough_for_a_look(tmp_path: Path) -> None:
    found = read(put(tmp_path, "a/1.png", "a/2.png", "b/3.png"), 1, 1)
    assert [one.name for one in found.files] == ["a/1.png"] and found.classes == ("a",)
