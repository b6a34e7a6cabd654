import torch

# y = 2 x^T x
x = torch.arange(4.0)
x.requires_grad_(True)
x.grad
y = 2 * torch.dot(x, x)
y
y.backward()
x.grad
x.grad == 4 * x
x.grad.zero_()  # reset
y = x.sum()
y.backward()
x.grad
x.grad.zero_()
y = x * x
y.backward(gradient=torch.ones(len(y)))  # faster: y.sum().backward()
x.grad
x.grad.zero_()
y = x * x
u = y.detach()
z = u * x
z.sum().backward()
x.grad == u
