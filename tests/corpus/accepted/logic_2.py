# The right side of `and`, `or` and the branch that is not taken must not run at all.
import torch
import torch.nn.functional as F

x = torch.ones(3, requires_grad=True)
missing = None
fine = x.grad is not None and x.grad.sum() > 0
length = 0 if missing is None else missing.shape[0]
safe = missing is None or missing.sum() > 0
n = 0
ratio = 1.0 / n if n != 0 else 0.0
within = 0 < n < 1 / 1 and 10 / n > 1
empty = []
head = empty[0] if empty else "nothing"
wrong = n and x.view(7)
loss = (x**2).sum() if x.requires_grad else x.sum()
loss.backward()
g = x.grad if x.grad is not None else torch.zeros_like(x)
norm = g.norm().item() if g is not None and len(g) > 0 else float("nan")
bounded = torch.clamp(g, max=1.0) if norm > 1.0 else g
act = F.relu(x) if x.sum() > 0 else torch.tanh(x)
act.sum().backward()
total = x.grad.sum().item()
