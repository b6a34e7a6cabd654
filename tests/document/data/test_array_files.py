"""Arrays that numpy saved: chosen by their names, never by running what a file holds."""

import io
import zipfile
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.document.data import array_files
from gradstudio.document.data.array_files import Arrays
from gradstudio.document.data.split import prepare
from gradstudio.document.errors import BadData


def saved(folder: Path, **found: np.ndarray) -> Arrays:
    np.savez(folder / "data.npz", **found)
    return Arrays(folder / "data.npz")


def test_inputs_and_target_are_found_by_their_names_and_what_is_kept_apart_stays_so(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pictures, labels = rng.integers(0, 255, (20, 4, 4), np.uint8), np.arange(20, dtype=np.uint8) % 3
    source = saved(tmp_path, x_train=pictures, y_train=labels, x_test=pictures[:6], y_test=labels[:6])
    assert [one.name for one in source.fields] == ["x_train", "y_train"]
    data = prepare(source, source.proposal())
    assert data.train.inputs.dtype == np.uint8 and data.train.inputs.shape == (20, 4, 4)
    assert data.train.target is not None and data.train.target.dtype == np.int64
    assert data.validation is not None and data.validation.inputs.shape == (6, 4, 4)
    assert data.classes == ("0", "1", "2") and "kept apart in the file" in data.notes[0]


def test_classes_of_any_whole_numbers_become_indices(tmp_path: Path) -> None:
    source = saved(tmp_path, data=np.ones((4, 2)), target=np.array([7, 3, 7, -1]))
    data = prepare(source, msgspec.structs.replace(source.proposal(), validation=0))
    assert data.train.target is not None
    assert data.classes == ("-1", "3", "7") and data.train.target.tolist() == [2, 1, 2, 0]


def test_one_array_has_inputs_and_no_target(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.arange(12.0).reshape(6, 2))
    source = Arrays(tmp_path / "one.npy")
    data = prepare(source, msgspec.structs.replace(source.proposal(), validation=0))
    assert (
        data.train.target is None and data.train.inputs.shape == (6, 2) and data.columns == ("one[:, 0]", "one[:, 1]")
    )


def test_numbers_that_are_none_are_filled_and_said(tmp_path: Path) -> None:
    source = saved(tmp_path, x=np.array([[1.0], [np.nan], [3.0], [1e300]]), y=np.arange(4))
    data = prepare(source, msgspec.structs.replace(source.proposal(), validation=0))
    assert data.train.inputs.tolist() == [[1], [2], [3], [2]] and "2 numbers" in " ".join(data.notes)


def test_rows_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    source = saved(tmp_path, x=np.ones((4, 2)), y=np.arange(3))
    choice = msgspec.structs.replace(source.proposal(), target="y")
    with pytest.raises(BadData, match="'x' has 4 rows, 'y' 3"):
        prepare(source, choice)


def test_a_pickle_is_never_read(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return open, (str(tmp_path / "executed"), "w")  # type: ignore[return-value]

    np.save(tmp_path / "evil.npy", np.array([Evil()], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "evil.npz", np.array([Evil()], dtype=object))
    for name in ("evil.npy", "evil.npz"):
        with pytest.raises(BadData, match="Python objects, which only running code could read"):
            Arrays(tmp_path / name)
    assert not (tmp_path / "executed").exists()


def test_what_unpacks_to_too_much_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "bomb.npz", x=np.zeros(1_000_000))
    assert (tmp_path / "bomb.npz").stat().st_size < 100_000
    monkeypatch.setattr(array_files, "LARGEST_ARRAYS", 1_000_000)
    with pytest.raises(BadData, match="unpacks to more than"):
        Arrays(tmp_path / "bomb.npz")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"no array", "no array that numpy saved"),
        (b"\x93NUMPY\x01\x00\xff\xff{'descr'", "damaged"),
        (b"PK\x03\x04" + b"x" * 40, "no array that numpy saved|damaged|objects"),
    ],
)
def test_a_bad_file_is_refused_in_words(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "bad.npy").write_bytes(data)
    with pytest.raises(BadData, match=words):
        Arrays(tmp_path / "bad.npy")


def test_words_are_no_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "words.npy", np.array(["a", "b"]))
    with pytest.raises(BadData, match="holds no numbers"):
        Arrays(tmp_path / "words.npy")


def _npz() -> bytes:
    held = io.BytesIO()
    np.savez(held, x=np.ones((3, 2)), y=np.arange(3))
    return held.getvalue()


WHOLE = _npz()


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255), st.booleans())
def test_a_damaged_file_is_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, cuts: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(WHOLE[:place] if cuts else WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :])
    try:
        source = Arrays(path)
        prepare(source, source.proposal())
    except BadData:
        return
    assert all(array.dtype.kind in "fiub" for array in source.arrays.values())


def test_a_header_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    held = io.BytesIO()
    np.lib.format.write_array_header_1_0(held, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    (tmp_path / "lies.npy").write_bytes(held.getvalue() + b"12345678")
    with zipfile.ZipFile(tmp_path / "lies.npz", "w") as archive:
        archive.writestr("x.npy", held.getvalue() + b"12345678")
    for name in ("lies.npy", "lies.npz"):
        with pytest.raises(BadData, match=r"damaged|numpy saved"):
            Arrays(tmp_path / name)
