import torch

# simple Newton iteration with tuples carried over
lo, hi = 0.0, 2.0
for step in range(20):
    mid = (lo + hi) / 2
    f = mid * mid - 2
    lo, hi = lo + (mid - lo) * (f < 0), hi - (hi - mid) * (f >= 0)
root = torch.tensor(mid)
a, b = 0, 1
for _ in range(10):
    a, b = b, a + b
history = [a]
for k in range(3):
    history = history + [k]
x = torch.eye(2)
for k in range(4):
    x = x @ torch.tensor([[1., 1.], [0., 1.]])
