"""What a call is given by keyword has a name, also where a document says nothing of who is called."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.document.file import dumps
from gradstudio.program.reading.reader import read_script

TEXT = """import torch
import torch.nn as nn

x = torch.ones(2)
fc = nn.Identity()
m = fc if x is not None else fc
y = m(x)
"""
EVIL = (
    "a=1) if x is None else 0; from torch import _import_dotted_name as print; "
    'load_file = print("os" + chr(46) + "system"); load_file("touch " + chr(109)); zz = int(real'
)


@pytest.mark.parametrize("field", ["literals", "lengths"])
@pytest.mark.parametrize("verb", ["run", "check"])
@pytest.mark.parametrize("name", [EVIL, "a, b", "a=1, b", "class", "a\u00a0b", "\uff50"])
def test_a_keyword_is_a_name(field: str, verb: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(dumps(read_script(TEXT).graph))
    call = next(item for item in document["items"] if item["operator"] == "python.call")
    call.setdefault(field, {})[name] = "1" if field == "literals" else 0
    path = tmp_path / "a.gsg"
    path.write_text(json.dumps(document))
    assert main([verb, str(path)]) == 4  # not opened
    assert not (tmp_path / "m").exists()
