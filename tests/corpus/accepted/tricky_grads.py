import torch
x = torch.tensor([1., 2.], requires_grad=True)
y = (x * x).sum()
y.backward()
g = x.grad
h = x.grad.clone()
y2 = (3 * x).sum()
y2.backward()
same = g is x.grad
x.grad.data.zero_()
z = x * 1
z.retain_grad()
(z ** 2).sum().backward()
zg = z.grad
x.grad = torch.ones_like(x)
w = x.detach().requires_grad_()
w.grad is None
with torch.no_grad():
    x.copy_(x - 0.1 * x.grad)
    x[0] = 0
x.requires_grad_(False)
x += 1
x.requires_grad = True
q = x.sin().sum()
dq, = torch.autograd.grad(q, x)
