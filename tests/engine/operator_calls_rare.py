"""Sample arguments of seldom used rows that PyTorch's own databases do not have; used by `operator_calls`."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

Values = dict[str, Any]


def numbers(*size: int, grad: bool = True) -> Tensor:
    """Numbers between 0.2 and 0.8."""
    values = torch.rand(*size, dtype=torch.float64, generator=torch.Generator().manual_seed(11)) * 0.6 + 0.2
    return values.requires_grad_(grad)


def complex_numbers(*size: int) -> Tensor:
    return torch.complex(numbers(*size), numbers(*size))


def coo() -> Tensor:
    return torch.eye(3, dtype=torch.float64).to_sparse_coo()


def csr() -> Tensor:
    return torch.eye(3, dtype=torch.float64).to_sparse_csr()


def csc() -> Tensor:
    return torch.eye(3, dtype=torch.float64).to_sparse_csc()


def compressed() -> Values:
    return {"compressed": torch.tensor([0, 1, 2]), "plain": torch.tensor([0, 1]), "values": numbers(2)}


def blocks() -> Values:
    return {**compressed(), "values": numbers(2, 1, 1)}


def of_kind(made: Callable[[], Values], compressed_name: str, plain_name: str) -> Values:
    parts = made()
    return {
        compressed_name: lambda: parts["compressed"],
        plain_name: lambda: parts["plain"],
        "values": lambda: parts["values"],
    }


def signal() -> Tensor:
    return torch.stft(numbers(16), 4, window=torch.ones(4, dtype=torch.float64), return_complex=True)


def packed() -> Any:
    return nn.utils.rnn.pack_sequence([numbers(3, 2), numbers(2, 2)])


def pruned() -> nn.Module:
    return nn.utils.prune.identity(nn.Linear(2, 2), "weight")


def normed() -> nn.Module:
    with torch.no_grad():
        return nn.utils.weight_norm(nn.Linear(2, 2))


def spectral() -> nn.Module:
    return nn.utils.spectral_norm(nn.Linear(2, 2))


def schedulers() -> list[Any]:
    of = torch.optim.lr_scheduler
    return [of.ConstantLR(optimizer()), of.ExponentialLR(optimizer(), 0.9)]


@cache
def optimizer() -> torch.optim.Optimizer:
    """The same for all. The first of a process loads torch's compiler, a second of work: not where tests are read."""
    return torch.optim.SGD([torch.ones(1)], lr=0.1)


HIDDEN = 3


def recurrent(gates: int, *, cell: bool = False) -> Values:
    """Weights of one recurrent layer from 2 to `HIDDEN` features."""
    w_ih, w_hh = numbers(gates * HIDDEN, 2), numbers(gates * HIDDEN, HIDDEN)
    if cell:
        return {"input": lambda: numbers(1, 2), "w_ih": lambda: w_ih, "w_hh": lambda: w_hh}
    flags = {"has_biases": False, "num_layers": 1, "dropout": 0.0, "train": False, "bidirectional": False}
    return {"params": lambda: [w_ih, w_hh], **flags}


def state(batch: int = 1) -> Tensor:
    return numbers(1, batch, HIDDEN)


def layers(word: str, gates: int) -> dict[str, Values]:
    hx: Any = (lambda: [state(), state()]) if word == "lstm" else state
    packed_way = {"data": lambda: numbers(2, 2), "batch_sizes": lambda: torch.tensor([1, 1]), "hx": hx}
    padded_way = {"input": lambda: numbers(1, 4, 2), "hx": hx, "batch_first": True}
    return {
        f"torch.{word}": {**recurrent(gates), **packed_way},
        f"torch.{word}:batch_first": {**recurrent(gates), **padded_way},
    }


IMAGE = {"input": lambda: numbers(1, 2, 4, 4)}
VOLUME = {"input": lambda: numbers(1, 2, 4, 4, 4)}
NORM = {name: lambda: numbers(2) for name in ("weight", "bias")} | {
    name: lambda: numbers(2, grad=False) for name in ("running_mean", "running_var")
}

SAMPLES: dict[str, Values] = {
    "torch.bernoulli:p": {"p": 0.5},
    "torch.set_rng_state": {"new_state": torch.get_rng_state},
    "torch.Generator.set_state": {"new_state": lambda: torch.Generator().get_state()},
    "torch.Generator.manual_seed": {"self": torch.Generator},
    "torch.Generator.seed": {"self": torch.Generator},
    "torch.Generator.device": {"self": torch.Generator},
    "torch.affine_grid_generator": {"theta": lambda: numbers(1, 2, 3), "size": (1, 1, 3, 3), "align_corners": False},
    "torch.grid_sampler": {
        **IMAGE, "grid": lambda: numbers(1, 2, 2, 2),
        "interpolation_mode": 0, "padding_mode": 0, "align_corners": False,
    },
    "torch.linalg.pinv:rcond": {"rcond": 1e-10},
    "torch.linalg.matrix_rank:tol": {"tol": 1e-10},
    "torch.istft": {"input": signal, "n_fft": 4, "window": lambda: torch.ones(4, dtype=torch.float64)},
    "torch.Tensor.istft": {"self": signal, "n_fft": 4, "window": lambda: torch.ones(4, dtype=torch.float64)},
    "torch.repeat_interleave:output_size": {"repeats": lambda: torch.tensor([1, 2])},
    "torch.unsafe_split_with_sizes": {"split_sizes": (1, 2)},
    "torch.Tensor.unsafe_split_with_sizes": {"split_sizes": (1, 2)},
    "torch.view_as_real": {"input": lambda: complex_numbers(3)},
    "torch.view_as_real_copy": {"input": lambda: complex_numbers(3)},
    "torch.view_as_complex_copy": {"input": lambda: numbers(3, 2, grad=False)},
    "torch.view_copy": {"size": (9,)},
    "torch.Tensor.float_power_": {"exponent": 2},
    "torch.is_nonzero": {"input": lambda: numbers(1)},
    "torch.Tensor.is_nonzero": {"self": lambda: numbers(1)},
    "torch.nn.functional.fractional_max_pool2d:indices": IMAGE,
    "torch.nn.functional.fractional_max_pool3d:indices": VOLUME,
    "torch.nn.functional.adaptive_max_pool2d_with_indices": IMAGE,
    "torch.nn.functional.adaptive_max_pool3d_with_indices": VOLUME,
    "torch.nn.functional.max_pool3d_with_indices": VOLUME,
    "torch.max_pool2d": IMAGE,
    "torch.max_pool3d": VOLUME,
    "torch.nn.functional.lp_pool2d": IMAGE,
    "torch.nn.functional.lp_pool3d": VOLUME,
    "torch.nn.functional.upsample": {**IMAGE, "scale_factor": 2.0},
    "torch.batch_norm": {**IMAGE, **NORM, "momentum": 0.1, "eps": 1e-5, "training": False, "cudnn_enabled": False},
    "torch.instance_norm": {
        **IMAGE, **NORM, "momentum": 0.1, "eps": 1e-5, "use_input_stats": False, "cudnn_enabled": False,
    },
    "torch.conv_tbc": {
        "input": lambda: numbers(4, 1, 2), "weight": lambda: numbers(2, 2, 3), "bias": lambda: numbers(3),
    },
    "torch.nn.functional.conv_tbc": {
        "input": lambda: numbers(4, 1, 2), "weight": lambda: numbers(2, 2, 3), "bias": lambda: numbers(3),
    },
    "torch.convolution": {
        "input": lambda: numbers(1, 2, 4), "weight": lambda: numbers(3, 2, 2), "bias": lambda: numbers(3),
    },
    "torch.embedding": {"indices": lambda: torch.tensor([0, 2])},
    "torch.embedding_bag": {"indices": lambda: torch.tensor([0, 2]), "offsets": lambda: torch.tensor([0])},
    "torch.native_dropout": {"p": 0.5, "train": True},
    **layers("gru", 3), **layers("lstm", 4), **layers("rnn_tanh", 1), **layers("rnn_relu", 1),
    **{f"torch.{word}_cell": {**recurrent(n, cell=True), "hx": lambda: numbers(1, HIDDEN)}
       for word, n in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1))},
    "torch.lstm_cell": {**recurrent(4, cell=True), "hx": lambda: [numbers(1, HIDDEN), numbers(1, HIDDEN)]},
    "torch.cosine_embedding_loss": {"target": lambda: torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)},
    "torch.ctc_loss": {
        "log_probs": lambda: numbers(4, 1, 3).log_softmax(-1), "targets": lambda: torch.tensor([[1, 2]]),
        "input_lengths": (4,), "target_lengths": (2,),
    },
    "torch.nn.utils.rnn.pack_padded_sequence": {"lengths": lambda: torch.tensor([3, 2, 1])},
    "torch.nn.utils.rnn.pad_packed_sequence": {"sequence": packed},
    "torch.nn.utils.rnn.unpack_sequence": {"packed_sequences": packed},
    "torch.nn.utils.rnn.unpad_sequence": {
        "padded_sequences": lambda: numbers(3, 2) * 1, "lengths": lambda: torch.tensor([3, 2]),
    },
    "torch.nn.utils.fuse_conv_bn_eval": {
        "conv": lambda: nn.Conv1d(2, 2, 1).eval(), "bn": lambda: nn.BatchNorm1d(2).eval(),
    },
    "torch.nn.utils.fuse_linear_bn_eval": {
        "linear": lambda: nn.Linear(2, 2).eval(), "bn": lambda: nn.BatchNorm1d(2).eval(),
    },
    "torch.nn.utils.fuse_conv_bn_weights": {
        "conv_w": lambda: numbers(2, 2, 1),
        **{name: lambda: numbers(2) for name in "conv_b bn_rm bn_rv bn_w bn_b".split()},
    },
    "torch.nn.utils.fuse_linear_bn_weights": {
        "linear_w": lambda: numbers(2, 2),
        **{name: lambda: numbers(2) for name in "linear_b bn_rm bn_rv bn_w bn_b".split()},
    },
    "torch.nn.utils.remove_spectral_norm": {"module": spectral},
    "torch.nn.utils.remove_weight_norm": {"module": normed},
    "torch.nn.utils.vector_to_parameters": {
        "vec": lambda: numbers(4, grad=False), "parameters": lambda: [numbers(2, 2)],
    },
    "torch.nn.utils.clip_grads_with_norm_": {"total_norm": lambda: torch.tensor(2.0)},
    "torch.nn.utils.prune.remove": {"module": pruned},
    "torch.nn.init.dirac_": {"tensor": lambda: numbers(2, 2, 3, grad=False)},
    "torch.optim.lr_scheduler.ChainedScheduler": {"schedulers": schedulers},
    "torch.optim.lr_scheduler.SequentialLR": {
        "optimizer": optimizer, "schedulers": schedulers, "milestones": [2],
    },
    "torch.optim.lr_scheduler.LRScheduler.step": {"self": lambda: schedulers()[0]},
    "torch.optim.lr_scheduler.LRScheduler.get_last_lr": {"self": lambda: schedulers()[0]},
    "torch.optim.lr_scheduler.ReduceLROnPlateau.step": {
        "self": lambda: torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer()), "metrics": 0.5,
    },
    "torch.nn.Module.get_buffer": {"self": lambda: nn.BatchNorm1d(2)},
    "torch.nn.Module.get_submodule": {"self": lambda: nn.Sequential(nn.ReLU())},
    "torch.nn.Module.load_state_dict": {"state_dict": lambda: nn.Linear(2, 2).state_dict()},
    "torch.optim.Optimizer.state_dict": {"self": optimizer},
    "torch.optim.Optimizer.load_state_dict": {"self": optimizer, "state_dict": lambda: optimizer().state_dict()},
    "torch.sparse_coo_tensor": {"indices": lambda: torch.tensor([[0, 1], [1, 0]]), "values": lambda: numbers(2)},
    "torch.sparse_csr_tensor": of_kind(compressed, "crow_indices", "col_indices"),
    "torch.sparse_csc_tensor": of_kind(compressed, "ccol_indices", "row_indices"),
    "torch.sparse_bsr_tensor": of_kind(blocks, "crow_indices", "col_indices"),
    "torch.sparse_bsc_tensor": of_kind(blocks, "ccol_indices", "row_indices"),
    "torch.sparse_compressed_tensor": {
        **of_kind(compressed, "compressed_indices", "plain_indices"), "layout": torch.sparse_csr,
    },
    "torch.sparse.mm": {"input": coo},
    "torch.sparse.sum": {"input": coo},
    "torch.sparse.softmax": {"input": coo},
    "torch.sparse.log_softmax": {"input": coo},
    "torch.sparse.spdiags": {"diagonals": lambda: numbers(2, 3), "offsets": lambda: torch.tensor([0, 1])},
    "torch.resize_as_sparse_": {"input": coo, "the_template": coo},
    "torch.Tensor.resize_as_sparse_": {"self": coo, "the_template": coo},
    "torch.Tensor.sparse_resize_": {"self": coo, "size": (3, 3), "sparse_dim": 2, "dense_dim": 0},
    "torch.Tensor.sparse_resize_and_clear_": {"self": coo, "size": (3, 3), "sparse_dim": 2, "dense_dim": 0},
    "torch.Tensor.sparse_mask": {"mask": coo},
    "torch.Tensor.coalesce": {"self": coo},
    "torch.Tensor.is_coalesced": {"self": coo},
    "torch.Tensor.indices": {"self": coo},
    "torch.Tensor.values": {"self": coo},
    "torch.Tensor.to_dense": {"self": coo},
    **{f"torch.Tensor.{word}": {"self": csr} for word in ("crow_indices", "col_indices")},
    **{f"torch.Tensor.{word}": {"self": csc} for word in ("ccol_indices", "row_indices")},
    **{f"torch.{word}_copy": {"input": csr} for word in ("crow_indices", "col_indices")},
    **{f"torch.{word}_copy": {"input": csc} for word in ("ccol_indices", "row_indices")},
    "torch.Tensor.random_:from_": {"from_": 0, "to": 3},
    "torch.resize_as_": {name: lambda: numbers(3, 3, grad=False) for name in ("input", "the_template")},
    "torch.Tensor.resize_": {"self": lambda: numbers(3, 3, grad=False)},
    "torch.Tensor.resize_as_": {name: lambda: numbers(3, 3, grad=False) for name in ("self", "the_template")},
    "torch.rrelu": {"training": True},
    "torch.rrelu_": {"training": True},
}  # fmt: skip
