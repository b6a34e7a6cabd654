"""A folder of pictures by class: what is read, what is left out with why, and the numbers that come of it."""

import os
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QBuffer, QByteArray
from PySide6.QtGui import QColor, QImage

from gradstudio.document.data import class_folders
from gradstudio.document.data.data_graph import data_graph
from gradstudio.document.data.hazards import class_counts
from gradstudio.document.data.model import Choice, Prepared
from gradstudio.document.data.split import prepare
from gradstudio.document.errors import BadData
from gradstudio.graph.slices import work_through
from gradstudio.graph.text.code_records import CODE
from gradstudio.ui.dialogs.data import picture_folder
from gradstudio.ui.dialogs.data.picture_folder import PictureFolder, pictures_reading

pytestmark = pytest.mark.usefixtures("qapp")
RED, BLUE = (200, 10, 20), (5, 30, 250)


def picture(colour: tuple[int, int, int], width: int = 4, height: int = 3, kind: str = "PNG") -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(*colour))
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    assert image.save(buffer, kind)
    return bytes(data.data())


def put(folder: Path, **files: bytes) -> Path:
    """Files by their names: ``cats__1_png`` is cats/1.png."""
    for key, data in files.items():
        parent, _, name = key.partition("__")
        (folder / parent).mkdir(parents=True, exist_ok=True)
        (folder / parent / name.replace("_", ".")).write_bytes(data)
    return folder


def folder_of(path: Path) -> PictureFolder:
    return work_through(pictures_reading(path))


def rows(source: PictureFolder, **changes: object) -> Prepared:
    choice: Choice = msgspec.structs.replace(source.proposal(), validation=0.0, **changes)
    return prepare(source, choice)


def test_each_folder_is_a_class_and_each_pixel_a_byte(tmp_path: Path) -> None:
    source = folder_of(put(tmp_path, red__1_png=picture(RED), blue__2_bmp=picture(BLUE, kind="BMP")))
    data = rows(source)
    assert data.classes == ("blue", "red") and data.train.target is not None
    assert data.train.inputs.dtype == np.uint8 and data.train.inputs.shape == (2, 3, 3, 4)
    assert data.train.target.tolist() == [0, 1] and data.train.target.dtype == np.int64
    assert data.train.inputs[:, :, 1, 2].tolist() == [list(BLUE), list(RED)]
    assert class_counts(data) == (("blue", 1, 0), ("red", 1, 0))


def test_the_size_that_most_have_is_proposed_and_another_can_be_chosen(tmp_path: Path) -> None:
    files = {"a__1_png": picture(RED), "a__2_png": picture(RED), "b__3_png": picture(BLUE, 9, 9)}
    source = folder_of(put(tmp_path, **files))
    assert source.size == (4, 3) and "2 of 4 × 3, 1 of 9 × 9" in source.description
    data = rows(source)
    assert data.train.inputs.shape == (3, 3, 3, 4) and "1 of another size is scaled to it" in data.notes
    assert data.train.inputs[2, :, 0, 0].tolist() == list(BLUE)
    gray = rows(source, size=(6, 2), is_gray=True)
    assert gray.train.inputs.shape == (3, 1, 2, 6)
    with pytest.raises(BadData, match="choose 1 to"):
        rows(source, size=(0, 3))


def test_gray_is_proposed_where_all_are_gray(tmp_path: Path) -> None:
    image = QImage(2, 2, QImage.Format.Format_Grayscale8)
    image.fill(77)
    (tmp_path / "one").mkdir()
    assert image.save(str(tmp_path / "one" / "g.png"))
    source = folder_of(tmp_path)
    assert source.is_gray and rows(source).train.inputs.tolist() == [[[[77, 77], [77, 77]]]]


def test_what_is_bad_is_named_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_folder, "MOST_PIXELS", 1000)
    monkeypatch.setattr(class_folders, "LARGEST_FILE", 5_000)
    good = picture(RED)
    put(
        tmp_path, a__good_png=good, a__empty_png=b"", a__text_png=b"no picture", a__notes_txt=b"x",
        a__wide_png=picture(RED, 500, 3), a__long_png=good + b"x" * 6000,
        a__drawing_png=b"<svg xmlns='x'/>", a__cut_png=good[:40],
    )  # fmt: skip
    (tmp_path / "a" / "deeper").mkdir()
    (tmp_path / "lonely.png").write_bytes(good)
    data = rows(folder_of(tmp_path))
    assert len(data.train.inputs) == 1
    said = " ".join(data.notes)
    for words in (
        "9 files are left out", "lonely.png (in no folder of a class)", "a/deeper (a folder within a class)",
        "a/empty.png (empty)", "a/text.png (not a picture)", "a/notes.txt (not called a picture)",
        "a/wide.png (500 × 3, more than", "a/long.png (more than", "a/drawing.png (not a picture)",
        "a/cut.png (damaged)",
    ):  # fmt: skip
        assert words in said


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    put(outside, secret__1_png=picture(BLUE))
    put(inside, a__1_png=picture(RED))
    os.symlink(outside / "secret" / "1.png", inside / "a" / "2.png")
    os.symlink(outside / "secret", inside / "linked")
    os.mkfifo(inside / "a" / "pipe.png")
    data = rows(folder_of(inside))
    assert data.classes == ("a",) and len(data.train.inputs) == 1
    said = " ".join(data.notes)
    assert "a/2.png (a link, which is not followed)" in said and "linked (a link, which is not followed)" in said
    assert "a/pipe.png (not an ordinary file)" in said


@pytest.mark.parametrize(
    ("limit", "where", "words"),
    [
        ("MOST_FILES", class_folders, "more than 1 "),
        ("LARGEST_FOLDER", class_folders, "Keep fewer, or smaller"),
        ("MOST_CLASSES", class_folders, "more than 1 classes"),
        ("MOST_PIXELS_TOGETHER", picture_folder, "pixels together"),
    ],
)
def test_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, where: object, words: str
) -> None:
    put(tmp_path, a__1_png=picture(RED), a__2_png=picture(RED), b__1_png=picture(RED))
    monkeypatch.setattr(where, limit, 1)
    with pytest.raises(BadData, match=words):
        folder_of(tmp_path)


def test_a_size_for_which_there_is_no_room_is_halved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_folder, "LARGEST_ROWS", 4 * 3 * 3 * 2)
    put(tmp_path, a__1_png=picture(RED, 8, 6), a__2_png=picture(RED, 8, 6))
    source = folder_of(tmp_path)
    assert source.size == (4, 3) and rows(source).train.inputs.shape == (2, 3, 3, 4)
    with pytest.raises(BadData, match="Choose a smaller size, or gray"):
        rows(source, size=(8, 6))


def test_a_folder_without_classes_says_which_to_choose(tmp_path: Path) -> None:
    (tmp_path / "1.png").write_bytes(picture(RED))
    with pytest.raises(BadData, match=r"Choose the folder whose folders are the classes.*1\.png"):
        folder_of(tmp_path)
    with pytest.raises(BadData, match="cannot be read"):
        folder_of(tmp_path / "nowhere")


@pytest.mark.qt_log_ignore(".*", extend=True)  # what the readers of the formats say of it
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), kind=st.sampled_from(["PNG", "JPG", "BMP", "PPM"]))
def test_a_damaged_file_never_hurts(tmp_path: Path, data: st.DataObject, kind: str) -> None:
    whole = bytearray(picture(RED, 16, 16, kind))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    bad = bytes(whole[: data.draw(st.integers(1, len(whole)))])
    put(tmp_path, a__1_png=picture(BLUE), b__bad_png=bad)
    found = rows(folder_of(tmp_path))
    assert found.train.inputs.dtype == np.uint8 and 1 <= len(found.train.inputs) <= 2


def test_the_program_divides_by_255_and_names_the_classes(tmp_path: Path) -> None:
    data = rows(folder_of(put(tmp_path, **{"a'; import os #__1_png": picture(RED), "b__1_png": picture(BLUE)})))
    graph = data_graph(data)
    names = [name for item in graph.order() if item in graph.nodes for name in graph.nodes[item].names]
    assert names == ["X_raw", "X", "y"] and {one.dtype for one in graph.tensors.values()} == {"uint8", "int64"}
    assert not any(node.operator == CODE for node in graph.nodes.values())
    assert "Classes: 0 a'; import os #, 1 b" in " ".join(node.note for node in graph.nodes.values())
