"""Writes in place that no wire orders: what is one, and what is none."""

import pytest

from gradstudio.advice.diagnosis.mistakes.unordered_writes import unordered_writes
from gradstudio.program.reading.reader import read_script

HEAD = "import torch\nx = torch.ones(2)\n"


def test_a_list_that_grows_is_no_write_into_a_tensor() -> None:
    text = "hist = []\nfor i in range(3):\n    hist.append(x * i)\nbest = hist[-1]\nprint(best)\n"
    assert unordered_writes(read_script(HEAD + text).graph) == ()


def test_a_view_that_is_read_beside_a_write_is_told() -> None:
    text = "y = x.view(2)\nx.mul_(2)\nprint(y)\n"
    assert [finding.kind for finding in unordered_writes(read_script(HEAD + text).graph)] == ["unordered_write"]


@pytest.mark.parametrize("first", ["0", "x.sum().item()", '"a"'])
def test_a_number_or_a_text_is_made_anew_and_not_written_into(first: str) -> None:
    text = f'n = {first}\nfor i in range(3):\n    print(f"{{n}}")\n    n += n\nm = n\nn += n\nprint(m)\n'
    assert unordered_writes(read_script(HEAD + text).graph) == ()


def test_a_tensor_that_a_loop_carries_is_written_into() -> None:
    text = 'n = x\nfor i in range(3):\n    print(f"{n}")\n    n += 1\n    n = n * 1\n'
    assert [finding.kind for finding in unordered_writes(read_script(HEAD + text).graph)] == ["unordered_write"]


@pytest.mark.parametrize("first", ["{}", '{"a": x}', "dict(a=x)", "[0] * 3", "[x, x]", "json.loads('[1]')"])
def test_a_list_a_dict_and_what_code_made_are_no_tensors(first: str) -> None:
    text = f"import json\n{HEAD}d = {first}\nfor k in range(3):\n    d[k] = x\nprint(d)\n"
    assert unordered_writes(read_script(text, keeps_code=True).graph) == ()


def test_a_tensor_that_a_choice_gives_may_be_one() -> None:
    text = "n = 3\nq = x if x.sum() > n else x * 2\nv = q.view(2)\nq.add_(1)\nprint(v)\n"
    assert [finding.kind for finding in unordered_writes(read_script(HEAD + text).graph)] == ["unordered_write"]


def test_several_writes_into_one_tensor_are_told_of_once() -> None:
    text = "x[0] = 3\nx[1] += 4\nx.mul_(2)\nprint(x)\n"
    (finding,) = unordered_writes(read_script(HEAD + text).graph)
    assert finding.title == "x[0] = and 2 more write into x, which 'print' also reads"
