import torch
from torch import nn
torch.manual_seed(0)
G = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
bce = nn.BCEWithLogitsLoss()
optD = torch.optim.Adam(D.parameters(), lr=1e-2, betas=(0.5, 0.999))
optG = torch.optim.Adam(G.parameters(), lr=1e-2, betas=(0.5, 0.999))
real = torch.randn(16, 2) + 3
for it in range(3):
    # (1) update D
    D.zero_grad()
    errD_real = bce(D(real), torch.ones(16, 1)); errD_real.backward()
    fake = G(torch.randn(16, 2))
    errD_fake = bce(D(fake.detach()), torch.zeros(16, 1))
    errD_fake.backward()
    optD.step()
    # (2) update G
    G.zero_grad()
    errG = bce(D(fake), torch.ones(16, 1))
    errG.backward()
    optG.step()
    print('[%d] D: %.4f G: %.4f' % (it, (errD_real + errD_fake).item(), errG.item()))
