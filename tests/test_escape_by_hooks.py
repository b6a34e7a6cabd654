"""Names that numpy and torch call, ways to compile, trace and save, holes of texts: none runs, in any form."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main
from tests.escapes import as_document, as_text

ESCAPES = {
    "compile": 'y = ⟦torch.compile|torch.relu⟧(fc)\n',
    "jit trace": 'y = ⟦torch.jit.trace|torch.dot⟧(fc, x)\n',
    "ops": 'y = torch.⟦ops.aten.relu|relu⟧(x)\n',
    "library": 'y = torch.⟦library.custom_op|abs⟧("a::b")\n',
    "tracker": 'y = torch.lobpcg(torch.eye(9), 1, tracker=type(type(x)))\n',
    "array name": 'fc.add_module("__array__", nn.Identity())\ny = np.asarray(fc)\n',
    "torch_function name": 'fc.register_buffer("__torch_function__", x)\ny = torch.add(fc, x)\n',
    "object view": 'a = np.zeros(3, dtype="i8")\ny = a.view("O")\n',
    "object record": 'a = np.zeros(3, dtype="V8")\ny = a.view([("a", "O")])\n',
    "getattr": 'y = ⟦getattr|pow⟧(fc, "forward")\n',
    "vars": 'y = ⟦vars|id⟧(fc)\n',
    "nested spec": 'y = f"{x.sum():{⟦fc.forward.__globals__|fc.training⟧}}"\n',
    "conversion": 's = "⟦{0.forward.__func__.__code__}|{0}⟧".format(fc)\n',
    "index in hole": 's = "⟦{0[0].__class__.__base__}|{0}⟧".format([fc])\n',
    "percent mapping": 's = "%(a)s" % {"a": fc.⟦forward.__globals__|training⟧}\n',
    "format_map": 's = "⟦{a.forward}|a⟧".⟦format_map|format⟧({"a": fc})\n',
    "comprehension": 'y = [q.⟦__class__.__base__.__subclasses__|zzz⟧() for q in [fc]]\n',
    "dtype string": 'y = x.type("os.system")\n',
    "device string": 'y = x.to("⟦;touch CANARY|cpuu⟧")\n',
    "generator state": 'g = torch.Generator()\ns = g.get_state()\ns.fill_(255)\ny = g.set_state(s)\n',
    "save": 'y = torch.⟦save|add⟧(x, "CANARY")\n',
    "dlpack": 'y = torch.⟦from_dlpack|abs⟧(x)\n',
    "tensorboard": 'y = torch.⟦utils.tensorboard.SummaryWriter|abs⟧("CANARY")\n',
    "profiler": 'y = torch.⟦profiler.profile|abs⟧(x)\n',
    "package": 'y = torch.⟦package.PackageImporter|abs⟧("CANARY")\n',
    "functional_call": 'y = torch.⟦func.functional_call|add⟧(fc, {})\n',
    "fused state": 'o = torch.optim.Adam([x], fused=True, lr=0.1)\nl = x.sum()\nl.backward()\n'
    'o.step()\ns = o.state[x]\ns["exp_avg"] = torch.zeros(1)\no.step()\n',
    "lstm weights": 'm = nn.LSTM(300, 300)\np = m.weight_ih_l0\n'
    'p.data = torch.zeros(1, 1)\ny, k = m(torch.ones(2, 2, 300))\n',
    "decorator": 'y = ⟦torch.no_grad()(print)|fc⟧(x)\n',
    "walrus": 'y = (z := fc.⟦forward.__globals__|zzz⟧)\n',
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Each as a text and as a document, in a folder where a mark would appear."""
    folder = tmp_path_factory.mktemp("hooks")
    for number, body in enumerate(ESCAPES.values()):
        marked = body.replace("CANARY", str(folder / "CANARY"))
        (folder / f"{number}.py").write_text(as_text(marked))
        (folder / f"{number}.gsg").write_text(as_document(marked))
    return sorted(map(str, folder.iterdir()))


@pytest.mark.parametrize("options", [["--backward"], ["--trace"]])
def test_every_run_refuses(files: list[str], options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--json", *options, *files]) != 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(reports) == len(files)
    assert [report["file"] for report in reports if report["ok"] or not report["error"]["message"]] == []
    assert not (Path(files[0]).parent / "CANARY").exists()


def test_no_check_is_by_our_own_fault(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", *files])
    said = capsys.readouterr()
    assert "own fault" not in said.out + said.err
    assert "Traceback" not in said.out + said.err
    assert not (Path(files[0]).parent / "CANARY").exists()
