import itertools

import torch
from torch import nn

torch.manual_seed(0)
G = nn.Linear(2, 2)
D = nn.Linear(2, 1)
bce = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(itertools.chain(G.parameters(), D.parameters()), lr=1e-2)
history = {"g": [], "d": []}
for it in range(3):
    z = torch.randn(4, 2)
    fake = G(z)
    d_loss = bce(D(fake.detach()), torch.zeros(4, 1))
    g_loss = bce(D(fake), torch.ones(4, 1))
    opt.zero_grad()
    (d_loss + g_loss).backward()
    opt.step()
    history["d"].append(d_loss.item())
    history["g"].append(g_loss.item())
last = history["g"][-1]
print(len(history["d"]), last)
