from __future__ import annotations

import torch, math
from torch import nn, Tensor
from typing import Tuple, Optional

LR: float = 0.1
steps: int = 4
w: Tensor = torch.tensor(1.0, requires_grad=True)

if __name__ == "__main__":
    torch.manual_seed(0)
    target = math.pi / 2
    for _ in range(steps):
        loss = (torch.sin(w) - math.sin(target)) ** 2
        loss.backward()
        w.data -= LR * w.grad
        w.grad = None
    print("w is", w.item())
