"""Tables of a person's: what is guessed, what is chosen, what is missing, and what is refused with its line."""

import gzip
import tracemalloc
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.document.data import table_text
from gradstudio.document.data.columns import column_of
from gradstudio.document.data.model import Choice
from gradstudio.document.data.sources import open_data
from gradstudio.document.data.split import prepare
from gradstudio.document.data.table_text import TextLayout, guess_layout
from gradstudio.document.data.tables import Table, table_reading
from gradstudio.document.errors import BadData
from gradstudio.graph.slices import work_through

IRIS = "length,width,species\n5.1,3.5,setosa\n7.0,3.2,versicolor\n6.3,3.3,virginica\n4.9,3.0,setosa\n"
ALL = {"validation": 0.0}


def table(folder: Path, text: str | bytes, name: str = "data.csv") -> Table:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return work_through(table_reading(path))


def chosen(source: Table, **changes: object) -> Choice:
    return msgspec.structs.replace(source.proposal(), **{**ALL, **changes})


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        (IRIS, TextLayout(",")),
        ("a;b\n1,5;2\n2,5;3\n", TextLayout(";", ",")),
        ("a;b;c\n" + "0,5;1,5;2,5\n" * 40, TextLayout(";", ",")),
        ("a\tb\n1.5\t2\n2.5\t3\n", TextLayout("\t")),
        ("1,2\n3,4\n", TextLayout(",", ".", False)),
        ("a|b\n1|2\n", TextLayout("|")),
        ("1 2 3\n4 5 6\n", TextLayout(" ", ".", False)),
        ("long name,other name\n1,2\n3,4\n", TextLayout(",")),
        ("who,what\nann,tea\nbob,tea\n", TextLayout(",")),
        ("ann,tea\nbob,tea\nann,tea\n", TextLayout(",", ".", False)),
    ],
)
def test_separator_decimal_and_header_are_guessed(text: str, layout: TextLayout) -> None:
    assert guess_layout(text) == layout


def test_the_last_column_is_the_target_and_words_are_classes_with_their_names(tmp_path: Path) -> None:
    source = table(tmp_path, IRIS)
    choice = chosen(source)
    assert (choice.inputs, choice.target, choice.is_class) == (("length", "width"), "species", True)
    data = prepare(source, choice)
    assert data.classes == ("setosa", "versicolor", "virginica")
    assert data.train.inputs.dtype == np.float32 and data.train.target is not None
    assert data.train.target.dtype == np.int64 and data.train.target.tolist() == [0, 1, 2, 0]
    assert data.train.inputs.tolist() == np.array([[5.1, 3.5], [7, 3.2], [6.3, 3.3], [4.9, 3]], np.float32).tolist()


def test_a_target_that_is_a_number_stands_in_a_column_of_its_own(tmp_path: Path) -> None:
    source = table(tmp_path, "x,price\n1,10.5\n2,20.25\n3,30.75\n")
    data = prepare(source, chosen(source))
    assert data.train.target is not None and data.train.target.dtype == np.float32
    assert data.train.target.tolist() == [[10.5], [20.25], [30.75]] and not data.classes


def test_numbers_of_rows_names_and_constants_are_no_inputs_by_themselves(tmp_path: Path) -> None:
    rows = "".join(f"{k},name{k},1,{k * k % 7},{k % 2}\n" for k in range(1, 12))
    source = table(tmp_path, "id,who,one,x,label\n" + rows)
    assert source.proposal().inputs == ("x",) and source.proposal().target == "label"


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("n", "0 1 2 3 4 99 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22"), ("Id", "7 3 9 1"), ("user_id", "40 2 3")],
)
def test_numbers_that_tell_rows_apart_are_no_inputs_where_they_are_not_in_order(
    tmp_path: Path, name: str, numbers: str
) -> None:
    lines = [f"{number},{k % 3}.5,{k % 2}" for k, number in enumerate(numbers.split())]
    assert table(tmp_path, "\n".join([f"{name},size,kind", *lines])).proposal().inputs == ("size",)


@pytest.mark.parametrize(
    ("name", "numbers"), [("year", "1990 1987 2001 2010"), ("id", "7 3 7 1"), ("id", "1.5 2.5 3.5")]
)
def test_numbers_that_measure_something_are_inputs(tmp_path: Path, name: str, numbers: str) -> None:
    lines = [f"{number},{k % 3}.5,{k % 2}" for k, number in enumerate(numbers.split())]
    assert table(tmp_path, "\n".join([f"{name},size,kind", *lines])).proposal().inputs == (name, "size")


def test_what_is_missing_is_said_with_line_and_column_and_its_row_left_out(tmp_path: Path) -> None:
    source = table(tmp_path, "a,b,y\n1,2,0\n\n,2,1\n3,NA,0\n4,12kg,1\n5,6,?\n7,8,0\n9,9,1\n1,1,1\n1,2,1\n")
    data = prepare(source, chosen(source))
    assert data.train.inputs[:, 0].tolist() == [1, 7, 9, 1, 1]
    notes = " ".join(data.notes)
    assert "4 values are missing: line 4 'a', line 5 'b', line 6 'b' (“12kg” is no number), line 7 'y'" in notes
    assert "4 rows are left out" in notes


def test_what_is_missing_is_filled_from_the_rows_to_learn_from(tmp_path: Path) -> None:
    text = "a,c,y\n" + "".join(f"{k if k % 5 else ''},{'u' if k % 3 else 'w'},{k % 2}\n" for k in range(1, 21))
    source = table(tmp_path, text)
    data = prepare(source, chosen(source, fills_missing=True, validation=0.5, inputs=("a", "c"), target="y"))
    assert data.validation is not None and len(data.train.inputs) + len(data.validation.inputs) == 20
    known = [value for value in data.train.inputs[:, 0].tolist() if value == round(value) and value]
    filled = {float(np.float32(np.mean([k for k in range(1, 21) if k % 5 and k in known])))}
    both = np.concatenate([data.train.inputs[:, 0], data.validation.inputs[:, 0]]).tolist()
    assert {value for value in both if value not in range(1, 21)} == filled


def test_the_same_seed_splits_the_same_and_no_row_is_lost_or_twice(tmp_path: Path) -> None:
    source = table(tmp_path, "x,y\n" + "".join(f"{k},{k / 7}\n" for k in range(0, 200, 2)))
    choice = chosen(source, inputs=("x",), target="y", is_class=False, validation=0.25, seed=3)
    one, again = prepare(source, choice), prepare(source, choice)
    other = prepare(source, msgspec.structs.replace(choice, seed=4))
    assert one.validation is not None and again.validation is not None and other.validation is not None
    assert one.validation.inputs.tolist() == again.validation.inputs.tolist() != other.validation.inputs.tolist()
    assert len(one.validation.inputs) == 25
    both = np.concatenate([one.train.inputs, one.validation.inputs])[:, 0]
    assert sorted(both.tolist()) == list(range(0, 200, 2))


def test_classes_that_lost_all_rows_have_no_index(tmp_path: Path) -> None:
    source = table(tmp_path, "a,y\n1,red\n,green\n3,blue\n4,red\n5,blue\n")
    data = prepare(source, chosen(source, inputs=("a",), target="y"))
    assert data.classes == ("blue", "red") and data.train.target is not None
    assert data.train.target.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 cells where the first line has 2"),
        (b'a,b\n1,2\n"3,4\n5,6\n', "line 3: .*Mend the quotes"),
        (b"a,b\n1,\x002\n", "line 2 has a zero byte"),
        (b"PK\x03\x04\0\0", "zero byte"),
        (("a," * 5000 + "b\n").encode() * 2, "columns, more than 4,096"),
    ],
)
def test_a_bad_table_says_what_where_and_what_to_do(tmp_path: Path, text: bytes, words: str) -> None:
    with pytest.raises(BadData, match=words):
        table(tmp_path, text)


def test_a_header_alone_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="a header and no rows"):
        table(tmp_path, "a,b\n")


def test_one_is_no_more_than_one(tmp_path: Path) -> None:
    source = table(tmp_path, "a\n1\n")
    assert source.description.startswith("1 row, 1 column, ")
    assert "1 row to learn from" in prepare(source, chosen(source, target="")).notes


def test_what_is_no_file_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadData, match="There is no file"):
        work_through(table_reading(tmp_path / "gone.csv"))
    with pytest.raises(BadData, match="not an ordinary file"):
        work_through(table_reading(tmp_path))
    monkeypatch.setattr(table_text, "LARGEST_TABLE", 10)
    with pytest.raises(BadData, match=r"Save it with numpy"):
        table(tmp_path, IRIS)
    monkeypatch.undo()
    monkeypatch.setattr(table_text, "MOST_CELLS", 6)
    with pytest.raises(BadData, match="counted up to line 3"):
        table(tmp_path, IRIS)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inputs": ()}, "Choose at least one"),
        ({"inputs": ("nothing",)}, "has no column 'nothing'"),
        ({"inputs": ("who",)}, "cannot be an input"),
        ({"target": "who"}, "too many for classes"),
        ({"validation": 0.95}, "from 0 to 0.9"),
    ],
)
def test_a_choice_that_does_not_go_is_refused(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    source = table(tmp_path, "x,who,y\n" + "".join(f"{k},person {k},{k % 2}\n" for k in range(1500)))
    with pytest.raises(BadData, match=words):
        prepare(source, chosen(source, **{"inputs": ("x",), **changes}))


def test_encodings_of_old_programs_are_read(tmp_path: Path) -> None:
    text = "größe;art\n1,5;süß\n2,5;herb\n3,5;süß\n"
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        source = table(tmp_path, text.encode(encoding))
        assert source.columns[0].name == "größe" and source.columns[1].classes == ("herb", "süß")
    assert "Windows-1252" in source.description


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_in_words(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    try:
        source = table(tmp_path_factory.getbasetemp(), data, "any.csv")
        found = prepare(source, chosen(source, validation=0.3))
    except BadData:
        return
    assert np.isfinite(found.train.inputs).all()


CELLS = st.text(st.sampled_from("0123456789.,;-e \t\"'\nabé"), max_size=8)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=8), st.sampled_from(",;\t|"))
def test_any_table_is_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], separator: str
) -> None:
    text = "\n".join(separator.join(row) for row in rows)
    try:
        source = table(tmp_path_factory.getbasetemp(), text, "some.csv")
        found = prepare(source, chosen(source, validation=0.3, fills_missing=True))
    except BadData:
        return
    assert np.isfinite(found.train.inputs).all()
    assert len({column.name for column in source.columns}) == len(source.columns)


NUMBERS = st.one_of(
    st.floats(allow_nan=False, width=32).map(repr), st.text(st.sampled_from("0123456789.eE+- "), max_size=6)
)


@given(st.lists(NUMBERS, min_size=1, max_size=12))
def test_the_fast_way_reads_what_the_other_reads(cells: list[str]) -> None:
    fast, slow = work_through(column_of("a", cells, ".")), work_through(column_of("a", [*cells, "?"], "."))
    assert (fast.numbers is None) == (slow.numbers is None)
    if fast.numbers is not None and slow.numbers is not None:
        np.testing.assert_array_equal(fast.numbers, slow.numbers[:-1])


def test_a_packed_table_is_read_as_the_table(tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_text(IRIS)
    half = len(IRIS) // 2
    two_members = gzip.compress(IRIS[:half].encode()) + gzip.compress(IRIS[half:].encode())
    for number, data in enumerate((gzip.compress(IRIS.encode()), two_members)):
        path = tmp_path / f"iris{number}.csv.gz"
        path.write_bytes(data)
        source, plain = open_data(path), open_data(tmp_path / "iris.csv")
        assert source.preview(9) == plain.preview(9) and source.fields == plain.fields


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * (table_text.LARGEST_TABLE // 2)))
    assert path.stat().st_size < 500_000
    tracemalloc.start()
    with pytest.raises(BadData, match="more than 50 MB when it is unpacked"):
        open_data(path)
    assert tracemalloc.get_traced_memory()[1] < 3 * table_text.LARGEST_TABLE
    tracemalloc.stop()


@pytest.mark.parametrize("cut", [30, -4])
def test_a_damaged_one_is_refused_in_words(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(IRIS.encode())[:cut])
    with pytest.raises(BadData, match="middle"):
        open_data(path)
    path.write_bytes(b"\x1f\x8b" + b"nonsense" * 9)
    with pytest.raises(BadData, match="cannot be unpacked"):
        open_data(path)
