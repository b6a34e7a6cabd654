"""What is proposed for layers and losses is what torch takes."""

import pytest
import torch

from gradstudio.operators.search.fitting_literals import layer_size, target_givers

SHAPES = {
    "Linear": (2, 6), "RNN": (5, 2, 6), "LSTM": (5, 2, 6), "GRU": (5, 2, 6), "RNNCell": (2, 6), "LSTMCell": (2, 6),
    "GRUCell": (2, 6), "LayerNorm": (2, 6), "RMSNorm": (2, 6), "Conv1d": (2, 6, 9), "Conv2d": (2, 6, 9, 9),
    "Conv3d": (2, 6, 9, 9, 9), "ConvTranspose1d": (2, 6, 9), "ConvTranspose2d": (2, 6, 9, 9),
    "ConvTranspose3d": (2, 6, 9, 9, 9), "BatchNorm1d": (2, 6), "BatchNorm2d": (2, 6, 9, 9),
    "BatchNorm3d": (2, 6, 9, 9, 9), "InstanceNorm1d": (2, 6, 9), "InstanceNorm2d": (2, 6, 9, 9),
    "InstanceNorm3d": (2, 6, 9, 9, 9), "GroupNorm": (2, 6, 9), "TransformerEncoderLayer": (5, 2, 6),
}  # fmt: skip
MORE: dict[str, dict[str, int]] = {
    "GroupNorm": {"num_groups": 2},
    "TransformerEncoderLayer": {"nhead": 2},
    **{name: {"out_features": 3} for name in ("Linear",)},
    **{name: {"hidden_size": 3} for name in ("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")},
    **{f"{kind}{n}d": {"out_channels": 3, "kernel_size": 3} for kind in ("Conv", "ConvTranspose") for n in (1, 2, 3)},
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_layer_of_the_proposed_size_takes_its_input(name: str) -> None:
    size = layer_size(f"torch.nn.{name}", SHAPES[name])
    assert size is not None
    layer = getattr(torch.nn, name)(**{size[0]: int(size[1])}, **MORE.get(name, {}))
    assert layer(torch.rand(SHAPES[name])) is not None


@pytest.mark.parametrize("shape", [(16, 3), (4, 3, 8), (3,)])
@pytest.mark.parametrize(
    "loss",
    ["cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
     "binary_cross_entropy_with_logits"],
)  # fmt: skip
def test_a_loss_takes_every_proposed_target(loss: str, shape: tuple[int, ...]) -> None:
    for giver in target_givers(f"torch.nn.functional.{loss}", "target", shape):
        names = {"torch": torch}
        arguments = {name: eval(text, names) for name, text in giver.literals.items()}  # our own table's
        ends = [arguments.pop("high")] if "high" in arguments else []
        target = getattr(torch, giver.key.removeprefix("torch."))(*ends, **arguments)
        assert getattr(torch.nn.functional, loss)(torch.rand(shape), target).isfinite()
