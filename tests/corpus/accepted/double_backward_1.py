import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 4 + torch.sin(x)
(g,) = torch.autograd.grad(y, x, create_graph=True)
(gg,) = torch.autograd.grad(g, x, create_graph=True)
ggg = torch.autograd.grad(gg, x)[0]
print(g.item(), gg.item(), ggg.item())

# a penalty on the gradient
w = torch.randn(3, requires_grad=True)
inputs = torch.randn(5, 3, requires_grad=True)
out = torch.tanh(inputs @ w).sum()
grads, = torch.autograd.grad(out, inputs, create_graph=True)
penalty = ((grads.norm(2, dim=1) - 1) ** 2).mean()
penalty.backward()
w.grad
