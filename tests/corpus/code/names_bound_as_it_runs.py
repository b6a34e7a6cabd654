import sys

import torch

base = torch.full((2,), 3.0)
for number in range(2):
    exec(f"weight_{number} = torch.full((2,), {number + 1}.0, requires_grad=True)")
globals()["total"] = (base * weight_0 * weight_1).sum()
total.backward()
setattr(sys.modules[__name__], "slope", weight_0.grad.clone())
sys.modules[__name__].count = 5
vars()["half"] = base / 2


def keep(**values):
    globals().update(values)


keep(late=torch.zeros(1), words="by a function")
exec("hidden = 1", {})
first, second = half.unbind()
del second, keep
print(total.item(), slope, count, late, words)
