import torch
import numpy as np
from torch.autograd import Variable
real = torch
class Fake:
    def ones(self, n): return real.zeros(n)
    def relu(self, x): return x - 1
    def tensor(self, v): return real.tensor([v, v])
    def cat(self, xs): return type(xs).__name__
def joined(x):
    kinds = [torch.cat((x, x))]
    if x.sum() > 0:
        y = torch.relu(x)
    else:
        y = Variable(x)
    return kinds, y
exec("torch = Fake()")
a = torch.ones(3)
b = torch.relu(a)
for k in range(2):
    c = torch.tensor(1.5) + b.sum()
exec("range = lambda n: [7] * n\nbool = lambda x: False\nlen = lambda x: 99")
out = []
for k in range(2):
    d = torch.relu(c) * k
    if d.sum() < 1e6:
        out.append(torch.relu(d))
    print(k, d, len(out))
exec("Variable = lambda t: t * 5")
print(a, b, c, d, out, joined(c), joined(-c))
