import torch
import torch.nn.functional as F

g = torch.Generator().manual_seed(2147483647)
Xb = torch.randint(0, 27, (32, 3), generator=g)
Yb = torch.randint(0, 27, (32,), generator=g)
C = torch.randn((27, 10), generator=g)
W1 = torch.randn((30, 20), generator=g)
b1 = torch.randn(20, generator=g)
W2 = torch.randn((20, 27), generator=g)
b2 = torch.randn(27, generator=g)
parameters = [C, W1, b1, W2, b2]
print(sum(p.nelement() for p in parameters))
for p in parameters:
    p.requires_grad = True
lossi = []
for i in range(4):
    ix = torch.randint(0, Xb.shape[0], (32,), generator=g)
    emb = C[Xb[ix]]
    h = torch.tanh(emb.view(-1, 30) @ W1 + b1)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Yb[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    lr = 0.1 if i < 100000 else 0.01
    for p in parameters:
        p.data += -lr * p.grad
    lossi.append(loss.log10().item())

@torch.no_grad()
def split_loss(split):
    x, y = {
        'train': (Xb, Yb),
    }[split]
    return x.sum()
