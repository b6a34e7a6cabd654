"""The format of a hole within an expression that chooses is plain, however it was escaped."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.document.file import dumps
from gradstudio.graph.errors import Refused
from gradstudio.graph.text.conditionals import read_conditional
from gradstudio.graph.text.literal_text import quote
from gradstudio.program.reading.reader import read_script

EVIL = (
    r"f'{v0:\x7d\x22\nfrom torch import _import_dotted_name as print\nload_file = print(\x22os.system\x22)"
    r"\nload_file(\x22touch MARK\x22)\nzz = f\x22\x7b1}'"
)


@pytest.mark.parametrize("spec", [r"\x22", r"\x7d\x22 + v1 + \x22", r"\n", r"\\", r"{v1:\x22}", r"\x7b"])
def test_a_format_is_plain(spec: str) -> None:
    with pytest.raises(Refused):
        read_conditional(quote(f'f"""{{v0:{spec}}}"""'))


@pytest.mark.parametrize("verb", ["run", "check"])
def test_no_statement_stands_in_a_format(verb: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    graph = read_script("import torch\n\nx = torch.ones(2)\ny = 'H' if x is not None else 0\n").graph
    document = json.loads(dumps(graph))
    document["items"][1]["literals"]["template"] = quote(EVIL.replace("MARK", str(mark)))
    path = tmp_path / "a.gsg"
    path.write_text(json.dumps(document))
    assert main([verb, str(path)]) != 0
    assert not mark.exists()
