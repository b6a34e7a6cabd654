"""Everything public in the installed torch is a row of the catalogue, or left out for a reason that is written down."""

import fnmatch

from gradstudio.operators.catalogue.loader import load
from tools.catalogue import universe

CATALOGUE = load()


def test_every_public_callable_has_a_row_or_a_reason() -> None:
    rows = {row.path.removesuffix("=") for row in CATALOGUE}
    assert [path for path in universe.wanted() if path not in rows] == []


def test_nothing_that_is_left_out_has_a_row() -> None:
    assert [row.key for row in CATALOGUE if universe.reason(row.path)] == []


def test_every_reason_is_for_something_that_torch_has() -> None:
    paths = universe.paths()
    assert [pattern for pattern in universe.left_out() if not fnmatch.filter(paths, pattern)] == []


def test_code_and_raw_memory_are_out_of_reach_and_files_want_a_yes() -> None:
    words = "load save from_file compile vmap set_ apply_ map_ map2_ register_hook".split()
    words += "pin_memory share_memory_ from_dlpack to_dlpack frombuffer tofile __reduce__ __dlpack__ fork".split()
    assert {row.key for row in CATALOGUE if row.path.rsplit(".", 1)[1] in words} == {"torch.load", "torch.save"}


def test_memory_under_a_tensor_is_only_looked_at() -> None:
    storage = {row.word for row in CATALOGUE if row.path.startswith("torch.UntypedStorage.")}
    assert storage == {"data_ptr", "nbytes", "size", "tolist"}


def test_every_row_of_torch_is_in_the_universe() -> None:
    known = {*universe.paths(), "torch.Tensor.grad", "torch.Tensor.data", "torch.Tensor._version", "torch.Tensor._base"}
    known |= {"torch.set_grad_enabled", "torch.autograd.set_detect_anomaly"}
    known |= {f"torch.{row.word}" for row in CATALOGUE if row.word.endswith("Tensor")} | {"torch.autograd.Variable"}
    known |= {"torch._weight_norm"}
    heads = ("torch.nn.Module.", "torch.optim.Optimizer.", "torch.optim.lr_scheduler.", "torch.cuda.", "torch.xpu.")
    heads += ("torch.nn.Sequential.", "torch.nn.ModuleList.", "torch.UntypedStorage.", "torch.autograd.graph.Node.")
    heads += ("torch.finfo", "torch.iinfo", "torch.device", "torch.Size.", "torch.backends.", "torch.accelerator.")
    heads += ("torch.amp.GradScaler", "torch.utils.data.", "torch.distributed.", "torch.nn.parallel.")
    rows = [row for row in CATALOGUE if row.path.startswith("torch.") and not row.path.startswith(heads)]
    assert [row.key for row in rows if row.path.removesuffix("=") not in known] == []
