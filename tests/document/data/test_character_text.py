"""A text: characters become numbers, the next one is told from a window of those before it, also in the program."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstudio.document.data import character_text
from gradstudio.document.data.character_text import Characters
from gradstudio.document.data.data_graph import data_graph
from gradstudio.document.data.hazards import class_counts, hazards
from gradstudio.document.data.model import Choice
from gradstudio.document.data.sources import open_data
from gradstudio.document.data.split import prepare
from gradstudio.document.data.tables import Table
from gradstudio.document.errors import BadData
from gradstudio.graph.text.code_records import CODE

VERSE = "Tyger Tyger, burning bright,\r\nIn the forests of the night;\r\n" * 4


def text(folder: Path, content: str | bytes) -> Characters:
    (folder / "poem.txt").write_bytes(content.encode() if isinstance(content, str) else content)
    return Characters(folder / "poem.txt")


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_characters="\0\r", codec="utf-8"), min_size=20, max_size=80), st.integers(1, 6))
def test_every_row_is_a_window_of_the_text_and_what_follows_it(
    tmp_path_factory: pytest.TempPathFactory, content: str, window: int
) -> None:
    content = f"a{content}b"
    source = text(tmp_path_factory.mktemp("text"), content)
    signs = sorted(set(content.removeprefix("\ufeff")))
    choice = msgspec.structs.replace(source.proposal(), window=window, validation=0)
    data = prepare(source, choice)
    assert data.train.target is not None and data.train.inputs.dtype == data.train.target.dtype == np.int64
    for row in range(len(content) - window):
        told = "".join(signs[k] for k in data.train.inputs[row])
        assert told == content[row : row + window] and signs[data.train.target[row]] == content[row + window]


def test_what_is_to_validate_is_the_end_and_shares_no_character_with_the_rest(tmp_path: Path) -> None:
    source = text(tmp_path, VERSE)
    data = prepare(source, source.proposal())
    plain = VERSE.replace("\r\n", "\n")
    kept = round(len(plain) * 0.2)
    assert data.validation is not None
    assert (len(data.train.inputs), len(data.validation.inputs)) == (len(plain) - kept - 8, kept - 8)
    assert "the end of the text" in data.notes[0] and "'Tyger Ty', then 'g'" in data.notes[1]
    assert data.classes[:4] == ("\\n", "space", "comma", ";") and not data.normalises
    assert sum(train + apart for _, train, apart in class_counts(data)) == len(plain) - 16
    assert hazards(data) == ()


def test_a_program_keeps_the_text_once_and_says_which_number_is_which(tmp_path: Path) -> None:
    source = text(tmp_path, VERSE)
    graph = data_graph(prepare(source, source.proposal()), {"windows"})
    names = [name for item in graph.order() if item in graph.nodes for name in graph.nodes[item].names]
    assert set(names) == {
        f"{root}_2{apart}" for root in ("characters", "windows", "X", "y") for apart in ("", "_val")
    }  # fmt: skip
    assert sum(one.shape[0] for one in graph.tensors.values()) == len(VERSE.replace("\r\n", "\n"))
    assert not any(node.operator == CODE for node in graph.nodes.values())
    assert "Classes: 0 \\n, 1 space, 2 comma" in " ".join(node.note for node in graph.nodes.values())


def test_the_rarest_of_very_many_characters_share_a_class(tmp_path: Path) -> None:
    content = "".join(chr(0x4E00 + k) * 2 for k in range(900)) + "".join(chr(0x3400 + k) for k in range(400))
    source = text(tmp_path, content)
    data = prepare(source, msgspec.structs.replace(source.proposal(), validation=0))
    assert len(data.classes) == 1000 and data.classes[-1] == "other"
    assert data.train.inputs.max() == 999 and "the 301 rarest characters are one class" in " ".join(data.notes)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"abc\0def", "line 1 has a zero byte"),
        (b"short", "do not go into both"),
    ],
)
def test_a_bad_text_is_refused_in_words(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(BadData, match=words):
        prepare(text(tmp_path, content), Choice(("text",)))


def test_a_text_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(character_text, "MOST_CHARACTERS", 10)
    with pytest.raises(BadData, match="more than 10"):
        text(tmp_path, "eleven signs")


@pytest.mark.parametrize("window", [0, -1, 10_000])
def test_a_window_that_is_none_is_refused(tmp_path: Path, window: int) -> None:
    source = text(tmp_path, VERSE)
    with pytest.raises(BadData, match="choose 1 to 512"):
        prepare(source, msgspec.structs.replace(source.proposal(), window=window))


def test_a_table_that_is_called_text_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a b\n1 2\n3 4\n")
    (tmp_path / "poem.txt").write_text(VERSE)
    assert isinstance(open_data(tmp_path / "t.txt"), Table)
    assert isinstance(open_data(tmp_path / "poem.txt"), Characters)
