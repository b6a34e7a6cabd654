import torch

t = torch.randn(3, requires_grad=True)
frozen = t.detach()
copy = t.detach().clone()
copy[0] = 100
shared = t.data
p = t.clone()
q = (t * 2).detach().requires_grad_()
r = (q ** 2).sum()
r.backward()
t.grad is None
value = r.item()
listed = t.tolist()
arr = t.detach().numpy()
arr.shape, arr.dtype
