"""What a program sets for the whole process holds until it begins anew, and for nobody else."""

import numpy as np
import pytest
import torch

from gradstudio.engine.torch_settings import settings


def test_settings_are_put_back_as_they_were() -> None:
    before = settings()
    try:
        torch.set_default_dtype(torch.float64)
        torch.set_printoptions(precision=2, sci_mode=True)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.set_float32_matmul_precision("high")
        torch.autograd.set_detect_anomaly(True, check_nan=False)
        torch.set_num_threads(before.threads + 1)
        np.set_printoptions(precision=np.get_printoptions()["precision"] - 1)
        with torch.backends.__allow_nonbracketed_mutation():  # torch's own test helpers forbid it otherwise
            torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark
        changed = settings()
        pairs = zip(before._fields, before, changed, strict=True)
        assert [name for name, old, new in pairs if old == new] == ["device"]
    finally:
        with torch.backends.__allow_nonbracketed_mutation():
            before.restore()
    assert settings() == before
    assert str(torch.tensor(3.14159)) == "tensor(3.1416)"


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_no_default_device_stays_to_look_at_each_call(device: str) -> None:
    before, depth = settings(), torch._C._len_torch_function_stack()
    try:
        torch.set_default_device(device)
        before.restore()
        assert torch._C._len_torch_function_stack() == depth
        assert settings() == before
    finally:
        torch.set_default_device(None)
