import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
enc = nn.Linear(6, 8); fc_mu = nn.Linear(8, 2); fc_logvar = nn.Linear(8, 2)
dec = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 6), nn.Sigmoid())
x = torch.rand(5, 6)
h = F.relu(enc(x))
mu, logvar = fc_mu(h), fc_logvar(h)
std = torch.exp(0.5*logvar)
eps = torch.randn_like(std)
z = mu + eps*std
recon_x = dec(z)
BCE = F.binary_cross_entropy(recon_x, x.view(-1, 6), reduction='sum')
KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
loss = BCE + KLD
loss.backward()
grad_norm = torch.nn.utils.clip_grad_norm_(dec.parameters(), 1.0)
