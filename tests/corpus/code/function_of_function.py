import torch


def square(x):
    return x * x


def numeric_grad(f, x, eps=1e-3):
    return (f(x + eps) - f(x - eps)) / (2 * eps)


x = torch.tensor(3.0, dtype=torch.float64)
g = numeric_grad(square, x)
ops = {"square": square, "double": lambda t: 2 * t}
results = {name: op(x).item() for name, op in ops.items()}
y = square(x)
print(round(g.item(), 4), results)
