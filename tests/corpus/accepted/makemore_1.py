import torch
import torch.nn.functional as F
words = ["emma", "olivia", "ava"]
lens = [len(words[0]), len(words[1]), len(words[2])]
g = torch.Generator().manual_seed(2147483647)
block_size = 3
C = torch.randn((27, 10), generator=g)
W1 = torch.randn((30, 20), generator=g) * (5/3)/((10 * block_size)**0.5)
parameters = [C, W1]
for p in parameters:
    p.requires_grad = True
X = torch.randint(0, 27, (4, 3), generator=g)
Y = torch.randint(0, 20, (4,), generator=g)
emb = C[X]
h = torch.tanh(emb.view(emb.shape[0], -1) @ W1)
loss = F.cross_entropy(h, Y)
loss.backward()
dt = C.grad.clone()
ex = torch.all(dt == C.grad).item()
app = torch.allclose(dt, C.grad)
maxdiff = (dt - C.grad).abs().max().item()
s = "dC"
print(f'{s:15s} | exact: {str(ex):5s} | approximate: {str(app):5s} | maxdiff: {maxdiff}')
lossi = []
lossi.append(loss.log10().item())
print(f'{0:7d}/{200000:7d}: {loss.item():.4f}')
i = 3
lr = 0.1 if i < 100000 else 0.01
W1.data += -lr * W1.grad
ctx = [0] * block_size
ctx = ctx[1:] + [5]
print(''.join(words), '--->', words[-1])
