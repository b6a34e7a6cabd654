"""What a red team reached for through the attributes of values: in a document none is had, however it comes in."""

import contextlib
import json
import zlib
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.document import clipboard
from gradstudio.document.errors import DocumentError
from gradstudio.document.file import dumps, loads
from gradstudio.document.png_embedding import embed_graph
from gradstudio.program.forms.form_table import FORMS
from tests.escapes import HEAD, as_document, as_text

MORE = """a = np.ones(3)
o = torch.optim.SGD([x], lr=0.1)
s = torch.optim.lr_scheduler.StepLR(o, 1)
t = nn.TransformerEncoderLayer(4, 2)
l = x.sum()
g = torch.Generator()
p = fc.parameters()
d = x.shape
"""
REACHES = {
    "x": "__reduce_ex__ __dict__ __torch_function__ __torch_dispatch__ __array_interface__ "
    "__cuda_array_interface__ __dlpack__ __setstate__ __init_subclass__ _make_subclass set_ map_ "
    "apply_ register_hook share_memory_ _backward_hooks _typed_storage __deepcopy__ __class__.__mro__ "
    "__class__.__subclasses__ __init__.__globals__ untyped_storage.__self__",
    "fc": "_forward_hooks _parameters _call_impl __call__ apply register_full_backward_hook "
    "forward.__code__ __getstate__ _load_from_state_dict extra_repr __dict__ compile "
    "_compiled_call_impl share_memory to_empty register_state_dict_pre_hook",
    "p": "gi_frame gi_code gi_yieldfrom send throw close gi_frame.f_back gi_frame.f_builtins "
    "gi_frame.f_globals",
    "r": "bit_generator spawn __reduce__ normal.__self__ integers.__func__ bit_generator.ctypes "
    "bit_generator.cffi _bit_generator",
    "a": "tofile dump dumps ctypes data __array_struct__ __array_interface__ setfield getfield setflags "
    "byteswap __reduce__ tobytes newbyteorder __setstate__ resize put partition flat.base base.ctypes "
    "dtype.type dtype.fields dtype.metadata",
    "o": "step.__wrapped__ state.default_factory register_step_pre_hook _optimizer_step_pre_hooks "
    "__setstate__ add_param_group profile_hook_step _zero_grad_profile_name "
    "_cuda_graph_capture_health_check __getstate__",
    "s": "step.__func__ _update_lr load_state_dict get_lr optimizer.step.__func__.__globals__ state_dict "
    "__dict__",
    "t": "activation.__globals__ self_attn._qkv_same_embed_dim activation.__code__ "
    "linear1.forward.__func__",
    "l": "grad_fn.metadata grad_fn.register_hook grad_fn.register_prehook grad_fn._raw_saved_self "
    "grad_fn._sequence_nr grad_fn._input_metadata grad_fn.__class__.__mro__ "
    "grad_fn.next_functions.__class__.__base__",
    "g": "__reduce__ graphsafe_get_state __init_subclass__ device.__reduce__ get_offset",
    "d": "__class__.__bases__ __reduce__ count.__self__ index.__self__ __iter__",
}  # fmt: skip
"""Of each value: what a document names, where the harmless one names nothing that there is."""
FORMS_OF_IT = (
    "y = {value}.⟦{name}|zzz⟧ if x is not None else 0\n",
    "def f(q):\n    u = q.⟦{name}|zzz⟧\n    return u\n\n\ny = f({value})\n",
    "for q in [{value}]:\n    y = q.⟦{name}|zzz⟧\n",
)
BODIES = [
    MORE + FORMS_OF_IT[number % len(FORMS_OF_IT)].format(value=value, name=name)
    for number, (value, name) in enumerate((value, name) for value, names in REACHES.items() for name in names.split())
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Every reach as a text and as a document."""
    folder = tmp_path_factory.mktemp("reaches")
    for number, body in enumerate(BODIES):
        (folder / f"{number}.py").write_text(as_text(body))
        (folder / f"{number}.gsg").write_text(as_document(body))
    return sorted(folder.iterdir())


def test_there_are_many() -> None:
    assert len(BODIES) > 90
    assert as_text(MORE).startswith(HEAD)


def test_every_run_refuses(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--json", *map(str, files)]) != 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(reports) == len(files)
    assert [report["file"] for report in reports if report["ok"]] == []


def test_every_recorded_run_refuses(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--json", "--trace", *map(str, files)]) != 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [report["file"] for report in reports if report["ok"]] == []


def test_no_check_and_no_export_is_by_our_own_fault(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", *map(str, files)])
    for path in files[::7]:
        for form in FORMS:
            main(["export", str(path), "--as", form.name, "-o", str(tmp_path / "out.py")])
    said = capsys.readouterr()
    assert "own fault" not in said.out + said.err
    assert "Traceback" not in said.out + said.err


@pytest.fixture(scope="module")
def picture() -> bytes:
    """A picture without a document; only what lies in its chunks is read."""
    header = b"\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"
    chunks = ((b"IHDR", header), (b"IDAT", b""), (b"IEND", b""))
    parts = [
        len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big") for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_a_picture_with_a_document_inside_is_that_document(
    picture: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for number, body in enumerate(BODIES):
        with contextlib.suppress(DocumentError):
            graph = loads(as_document(body))
            path = tmp_path / f"{number}.png"
            path.write_bytes(embed_graph(picture, graph))
            paths.append(str(path))
    assert main(["run", "--json", *paths]) != 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(reports) == len(paths) > 0
    assert [report["file"] for report in reports if report["ok"]] == []
    assert sum("is not among what a drawing may" in str(report["error"]) for report in reports) > 10


def test_what_is_pasted_is_that_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for number, body in enumerate(BODIES):
        with contextlib.suppress(DocumentError):
            text = clipboard.to_text(loads(as_document(body)))
            path = tmp_path / f"{number}.gsg"
            path.write_text(dumps(clipboard.from_text(text).graph))
            paths.append(str(path))
    assert main(["run", "--json", *paths]) != 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(reports) == len(paths) > 0
    assert [report["file"] for report in reports if report["ok"]] == []
    assert sum("is not among what a drawing may" in str(report["error"]) for report in reports) > 10
