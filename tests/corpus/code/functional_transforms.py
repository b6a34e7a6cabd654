import torch
from torch.func import grad, vmap


def f(x):
    return (x**3).sum()


x = torch.tensor([1.0, 2.0])
g = grad(f)(x)
batch = torch.arange(6.0).reshape(3, 2)
per_row = vmap(grad(f))(batch)
jac = torch.autograd.functional.jacobian(lambda t: t**2, x)
print(g, per_row.shape, jac)
