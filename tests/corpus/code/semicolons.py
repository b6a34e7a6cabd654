import time; import torch
a = 1; b = {v: v for v in (1, 2)}; c = torch.ones(a)
if a: d = c + 1
for i in range(2): e = c * i; print({i: a})
print(a, b, d, e)
