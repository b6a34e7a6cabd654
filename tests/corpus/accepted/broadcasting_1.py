import torch

doubled = torch.ones(5, 1) * torch.ones(1, 3) * 2
a = torch.ones(4, 3, 2)
b = a * torch.rand(   3, 2)    # 3rd & 2nd dims identical to a, dim 0 absent
c = a * torch.rand(   3, 1)    # 3rd dim = 1, 2nd dim identical to a
d = a * torch.rand(   1, 2)
col = torch.arange(3).view(3, 1); row = torch.arange(2)
grid = col * 10 + row
mean = grid.float().mean(0, keepdim=True)
std = grid.float().std(0, keepdim=True)
normed = (grid - mean) / (std + 1e-8)
x = torch.tensor([[1., 2.], [3., 4.]])
probs = x / x.sum(1, keepdim=True)
probs.sum(axis=1)
dist = ((x[:, None, :] - x[None, :, :]) ** 2).sum(-1).sqrt()
