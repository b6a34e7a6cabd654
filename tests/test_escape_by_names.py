"""`super` is trusted by the guard, so that no program may bind it."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.graph.errors import Refused
from gradstudio.graph.names import check

MADE = 'super = type(type(1))\nA = super("A", (), {})\nk = type(A)\n'


def test_super_is_no_name_of_a_program() -> None:
    with pytest.raises(Refused):
        check("super")


def test_nothing_is_called_by_the_name_super(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where `super` is bound, it is Python that is not drawn: a check calls none of it, a run asks for a yes."""
    path = tmp_path / "a.py"
    path.write_text(MADE)
    assert main(["run", "--json", str(path)]) == 4
    (told,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert told["error"]["type"] == "NotTrusted"
    assert "super = type(type(1))" in "\n".join(one["text"] for one in told["code"])
    assert main(["check", "--json", str(path)]) == 0
    (told,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert {port["name"] for port in told["ports"]} >= {"super", "A", "k"}
    assert all(port["known_after_run"] for port in told["ports"])
