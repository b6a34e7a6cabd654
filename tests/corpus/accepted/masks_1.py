import numpy as np
import torch

a = np.arange(12).reshape(3, 4)
even = a % 2 == 0
a[even] = 0
a[a > 9] *= 2
rows = a[[0, 2]]
last = a[..., -1]
col = a[:, np.newaxis, 1]
both = (a > 2) & ~even | (a == 0)
some = np.where(both, a, -1)
count = both.sum()
flip = a[::-1, ::2]
top = np.argsort(-a.sum(axis=1))[:2]
tail = a[1:][:, 2:]
t = torch.from_numpy(a.copy())
mask = t > 3
kept = t[mask]
t[~mask] = -1
picked = torch.where(mask, t, torch.zeros_like(t))
any_big = bool((t > 20).any())
where = torch.nonzero(mask)
a[0] = np.array([4, 3, 2, 1])
a[1, 1:3] += 100
total = sum(a.sum(axis=0).tolist())
low, high = a.min(), a.max()
scaled = (a - low) / (high - low)
