"""Indices of a sparse tensor point into it, so that no program writes where it likes; a key is asked as a callee is."""

from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.engine import access
from gradstudio.engine.errors import AccessRefused

MADE = "import torch\n\ni = torch.tensor([[1]])\nv = torch.tensor([1.0])\n"
FAR = 1_000_000_000


@pytest.mark.parametrize(
    "text",
    [
        f"s = torch.sparse_coo_tensor(i * {FAR}, v, (3,))\n",
        f"s = torch.sparse_coo_tensor(i * {FAR}, v, (3,), check_invariants=False)\n",
        f"s = torch.sparse_coo_tensor(i, v, (3,))\ni.fill_({FAR})\n",
        f"s = torch.sparse_coo_tensor(i, v, (3,)).coalesce()\nj = s.indices()\nj.fill_({FAR})\n",
    ],
)
def test_an_index_points_into_its_tensor(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text(f"{MADE}{text}y = torch.zeros(3)\ny.add_(s)\n")
    main(["run", str(path)])
    said = capsys.readouterr()
    assert "signal" not in said.out + said.err


@pytest.mark.parametrize(
    "text", ["y = sorted(['1'], key=e)", "y = max(['1', '2'], key=e)", "y = next(iter(e, 5))", "[1].sort(key=e)"]
)
def test_a_key_is_asked_for(text: str) -> None:
    with pytest.raises(AccessRefused):
        access.execute(access.statements(text), {"e": eval})


@pytest.mark.parametrize("offsets", ["[0, 1000000000]", "[-5, 2]", "[0, 4, 2]"])
def test_segments_lie_within_their_data(offsets: str) -> None:
    text = f'y = torch.segment_reduce(torch.ones(4), "sum", offsets=torch.tensor({offsets}))'
    with pytest.raises(AccessRefused, match="lead out of the data"):
        access.execute(access.statements(f"import torch\n{text}"), {})


@pytest.mark.filterwarnings("ignore:An output with one or more elements")
def test_what_could_not_grow_is_empty() -> None:
    names: dict[str, object] = {}
    text = "import numpy as np\nimport torch\nu = torch.from_numpy(np.ones(4))"
    access.execute(access.statements(text), names)
    with pytest.raises(RuntimeError, match="not resizable"):
        access.execute(access.statements("torch.add(torch.ones(9), 1, out=u)"), names)
    assert tuple(names["u"].shape) == (0,)
    access.execute(access.statements("v = torch.add(torch.ones(9), 1, out=torch.empty(9))"), names)
    assert names["v"].tolist() == [2.0] * 9
