import torch, math; from torch import nn
import torch.nn.functional
a, b = 1, torch.ones(2); c = a, b
(x, y), z = (1.0, 2.0), [3.0, 4.0]
first, *middle, last = torch.arange(5.)
*init, tail = z
h = w = 4
n = m = torch.zeros(h, w)
n[0, 0], n[1, 1] = 1, 2
n[0], n[1] = n[1].clone(), n[0].clone()
t = torch.arange(6.).view(2, 3); t[0], t[-1] = t[-1] * 2, t[0] + 1
shape = rows, cols = t.shape
i = 0
i, n[i] = 2, 5.
if rows > 1: print("rows", rows); print(cols)
if not middle: print("never")
for k in (1, 2): a += k; b = b * k
for k in range(2): pass
pass
k
-a, +b, ~torch.tensor(True)
x == 1.0
a < 2
None
...
"text"
[1, 2][0]
math.pi
