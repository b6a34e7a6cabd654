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


@pytest.mark.parametrize("verb", ["run", "check"])
def test_nothing_is_called_by_the_name_super(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text(MADE)
    assert main([verb, "--json", str(path)]) != 0
    assert not any(json.loads(line).get("ok") for line in capsys.readouterr().out.splitlines())
