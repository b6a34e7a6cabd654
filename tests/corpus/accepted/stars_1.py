import torch
from torch import nn

torch.manual_seed(0)
enc = nn.Linear(4, 2)
dec = nn.Linear(2, 4)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
x = torch.randn(3, 4)
loss = ((dec(enc(x)) - x) ** 2).mean()
loss.backward()
opt.step()

heads = enc(x).view(*x.shape[:-1], 2, 1)
grown = torch.zeros(*x.shape, 2)
several = x.expand(2, *x.shape)
turned = x.permute(*range(x.dim() - 1, -1, -1))
hidden = [nn.Linear(2, 2), nn.Tanh()]
model = nn.Sequential(enc, *hidden, dec, *hidden[1:])
out = model(x)
sizes = (out.sum(dim=1).shape[0], *out.shape)
digits = 3
print(*sizes, "elements:", out.numel())
print(f"{loss.item():.{digits}f} of {x.abs().max().item():.{digits}f}")
