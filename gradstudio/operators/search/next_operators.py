"""Which operators usually follow which in PyTorch programs, before a person has habits. No Qt here."""

from typing import Final

from gradstudio.operators.model import Family, Operator

_ACTIVATIONS: Final = ("torch.relu", "torch.tanh", "torch.sigmoid", "torch.nn.functional.gelu")
_LOSSES: Final = ("torch.nn.functional.cross_entropy", "torch.nn.functional.mse_loss")
_AFTER: Final[dict[str, tuple[str, ...]]] = {
    "torch.nn.Linear": ("torch.relu", "torch.nn.Linear", "torch.tanh", "torch.nn.Dropout", *_LOSSES),
    "torch.nn.Conv2d": ("torch.relu", "torch.nn.BatchNorm2d", "torch.nn.MaxPool2d", "torch.nn.Conv2d"),
    "torch.nn.BatchNorm2d": ("torch.relu", "torch.nn.MaxPool2d", "torch.nn.Conv2d"),
    "torch.nn.MaxPool2d": ("torch.nn.Conv2d", "torch.nn.Flatten", "torch.flatten"),
    "torch.nn.Flatten": ("torch.nn.Linear",),
    "torch.flatten": ("torch.nn.Linear",),
    "torch.nn.Embedding": ("torch.nn.Linear", "operator.add", "torch.nn.LSTM", "torch.nn.LayerNorm"),
    "torch.nn.LayerNorm": ("torch.nn.Linear", "torch.nn.MultiheadAttention"),
    "torch.nn.Dropout": ("torch.nn.Linear", "operator.add"),
    "torch.relu": ("torch.nn.Linear", "operator.matmul", "torch.nn.Conv2d", "torch.nn.MaxPool2d"),
    "torch.tanh": ("torch.nn.Linear", "operator.matmul"),
    "torch.sigmoid": ("torch.nn.functional.binary_cross_entropy", "operator.mul"),
    "operator.matmul": ("operator.add", "torch.relu", "torch.softmax", "operator.truediv", "torch.tanh"),
    "torch.matmul": ("operator.add", "torch.relu", "torch.softmax", "operator.truediv", "torch.tanh"),
    "operator.add": (*_ACTIVATIONS, "torch.nn.LayerNorm", "operator.matmul"),
    "operator.sub": ("operator.pow", "torch.square", "torch.abs", "torch.Tensor.mean"),
    "operator.mul": ("torch.Tensor.sum", "operator.add"),
    "operator.truediv": ("torch.softmax", "torch.Tensor.mean", "operator.matmul"),
    "operator.pow": ("torch.Tensor.mean", "torch.Tensor.sum"),
    "torch.softmax": ("operator.matmul", "torch.argmax", "torch.log"),
    "torch.nn.functional.softmax": ("operator.matmul", "torch.argmax", "torch.log"),
    "torch.Tensor.T": ("operator.matmul",),
    "torch.Tensor.transpose": ("operator.matmul", "torch.Tensor.reshape"),
    "torch.Tensor.reshape": ("operator.matmul", "torch.nn.Linear", "torch.Tensor.transpose"),
    "torch.exp": ("torch.Tensor.sum", "operator.truediv"),
    "torch.Tensor.mean": ("torch.Tensor.backward", "torch.Tensor.item"),
    "torch.Tensor.sum": ("torch.Tensor.backward", "torch.Tensor.item"),
    "torch.mean": ("torch.Tensor.backward", "torch.Tensor.item"),
    "torch.sum": ("torch.Tensor.backward", "torch.Tensor.item"),
    "torch.Tensor.backward": ("torch.optim.SGD",),
    "torch.randn": ("operator.matmul", "torch.nn.Linear", "operator.mul", "torch.Tensor.sum"),
    "torch.tensor": ("operator.matmul", "operator.mul", "operator.add", "torch.Tensor.sum"),
}


def usually_after(operator: Operator | None) -> tuple[str, ...]:
    """Keys of what usually follows an operator, the likeliest first."""
    if operator is None:
        return ()
    if operator.key in _AFTER:
        return _AFTER[operator.key]
    if operator.key == "python.stored":  # not in the table: nobody means an empty one before a layer
        return ("torch.nn.Linear", "operator.matmul", "torch.nn.Conv2d")
    if operator.category == "Losses":
        return ("torch.Tensor.backward", "torch.Tensor.item")
    if operator.category == "Activations":
        return _AFTER["torch.relu"]
    if operator.results and operator.results[0].family is Family.OPTIMIZER:
        return ("torch.optim.Optimizer.zero_grad", "torch.optim.Optimizer.step")
    return ()


def usually_before(key: str) -> tuple[str, ...]:
    """Keys of what usually comes before an operator."""
    return tuple(before for before, after in _AFTER.items() if key in after)
