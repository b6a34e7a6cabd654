import torch
a = b = c = torch.zeros(2)
a += 1
x = y = 3.0
p, q = (r, s) = 1, 2
u = torch.ones(2, requires_grad=True)
v = torch.ones(2, requires_grad=True)
(u * v).sum().backward()
u.grad = v.grad = None
m = torch.zeros(2, 2)
m[0] = m[1] = torch.tensor([1., 2.])
m[0, 0], m[1, 1] = 5.0, 6.0
i, *js, k = [1, 2, 3, 4]
[first, second] = torch.arange(2)
pass
x, y = y, x
z = torch.tensor([x, y]), b
