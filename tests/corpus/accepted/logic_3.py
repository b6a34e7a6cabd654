import numpy
import torch as th
from torch import nn
import torch.nn.functional as F
a = numpy.arange(4.0)
b = numpy.exp(a) if a.size > 2 else numpy.zeros(4)
t = th.from_numpy(b)
layer = nn.Linear(4, 2)
nn.init.constant_(layer.weight, 0.5)
nn.init.zeros_(layer.bias)
out = layer(t.float())
act = F.relu(out) if layer.bias is not None and out.min() > 0 else th.sigmoid(out)
n_params = sum([layer.weight.numel(), layer.bias.numel()])
kind = "linear" if isinstance(layer, nn.Module) else "other"
kk = isinstance(layer, nn.Linear)
ok = th.is_tensor(out) and out.requires_grad
msg = f"{'yes' if ok else 'no'} {n_params:,}"
print(f"{out.shape[0] if out.dim() else 0} {'+' * 3}")
val = out.mean().item() if out.numel() else None
dev = out.device.type
dd = str(out.device)
x = th.ones(2) * 2 if dev == "cpu" else None
y = x.clone() if x is not None else x
z = float(y.sum()) if y is not None else 0.0
big = 10 ** 6
sci = 1e-3 if big > 1_000 else 5e-1
q = None or sci
flag = bool(q) and not None
idx = -1 if a[-1] > a[0] else 0
last = a[idx]
first, second = (a[0], a[1]) if flag else (a[1], a[0])
