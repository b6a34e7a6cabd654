import time
from types import SimpleNamespace

import torch


class Named:
    def __init__(self, **given):
        self.given = given

    def keys(self, *inputs, **given):
        return len(inputs), list(given)


def show(*inputs, **given):
    return len(inputs), list(given)


time.sleep(0)
x = torch.ones(2)
named = Named(zeta=1, alpha=x, limits=[1, len(x)], begin=x.sum())
shown = show(*(1, 2), z=1, b=torch.ones(1))
settings = SimpleNamespace(b=1, a=x * 2, c=[torch.zeros(1), 2])
keys = named.keys(x, width=2, height=x, depth=1)


def call(function, value):
    return function(value + 1, zeta=value, alpha=2)


called = call(show, x)
print(list(named.given), shown, settings, keys, called)
