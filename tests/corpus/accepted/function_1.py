import torch


def scale(a, k=2.0):
    b = a * k
    return b, a


def twice(a):
    b, c = scale(a)
    d, _ = scale(b, k=3.0)
    for t in range(2):
        d = d + t
    return d + c


torch.manual_seed(0)
x = torch.ones(3, requires_grad=True)
y = twice(x)
z = scale(y)
y.sum().backward()
