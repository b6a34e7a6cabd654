import functools

import torch


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        print(function.__name__, tuple(result.shape))
        return result

    return wrapper


@logged
def double(x):
    return x * 2


@torch.no_grad()
def frozen(x):
    return double(x) + 1


x = torch.ones(3, requires_grad=True)
y = double(x)
z = frozen(x)
flags = (y.requires_grad, z.requires_grad)
