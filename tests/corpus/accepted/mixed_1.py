import torch
torch.manual_seed(3)
import torch.nn as nn
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
for m in net:
    if isinstance(m, nn.Linear):
        print("linear", m.weight.shape)
    if type(m).__name__ == "ReLU" and not m.training:
        print("relu")
for name, p in net.named_parameters():
    if p.requires_grad and p.dim() > 1:
        print(name, tuple(p.shape), sep="\t")
w = torch.zeros(3, dtype=torch.int64)
w[0] += 1
counts = [0, 0, 0]
counts[1] += 2
word = "hello"
ch = word[1:3]
n = len(word) - 1
ok = n > 3 and word.startswith("he") or False
i = int("12") + int(3.9) + float("1e-3")
b = bool([]) or bool("a")
r = round(3.14159, 2)
s = str(r) + "!" * 3
t = ("a", 1)
u = t * 2
v = [[0] * 2] * 2
z = [None] * 3
total = sum([1, 2, 3]) / len([1, 2, 3])
m2 = max([0.1, 0.5])
e = 5 // 2 * 2 + 5 % 2 - -1
h = (1 < 2) is True
d = abs(-2.5) ** 0.5
k = sorted([3, 1, 2])[::-1][0]
x = torch.tensor([[1, 2], [3, 4]])
a, c = x
f = x.tolist()[0][1]
g = list(x.shape)
y = x.shape[0] if x.ndim == 2 else -1
