import torch

x = torch.arange(20).reshape(4, 5)
rows = torch.tensor([0, 2])
cols = torch.tensor([1, 3])
x[rows]; x[:, cols]; x[rows, cols]
x[rows[:, None], cols]
mask = x % 2 == 0
evens = x[mask]
x[mask] = -1
x[x > 15] *= 2
y = x[[0, -1]]
z = x[1:3, ::2]
w = x[..., None]
last, = x.shape[-1:]
picked = x.gather(1, torch.tensor([[0], [1], [2], [3]]))
(x > 3) & (x < 10)
i = torch.nonzero(x > 10)
top, where = torch.topk(x.float(), k=2, dim=1)
m = x.masked_fill(x < 0, 0)
idx = x.argmax(dim=1)
best = x[torch.arange(4), idx]
