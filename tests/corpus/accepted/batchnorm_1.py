import torch

torch.manual_seed(5)
n = 4
hprebn = torch.randn(n, 3, requires_grad=True)
bngain = torch.ones((1, 3)); bnbias = torch.zeros((1, 3))
bngain.requires_grad = True
bnbias.requires_grad = True
bnmeani = 1/n*hprebn.sum(0, keepdim=True)
bndiff = hprebn - bnmeani
bndiff2 = bndiff**2
bnvar = 1/(n-1)*(bndiff2).sum(0, keepdim=True) # note: Bessel's correction (dividing by n-1, not n)
bnvar_inv = (bnvar + 1e-5)**-0.5
bnraw = bndiff * bnvar_inv
hpreact = bngain * bnraw + bnbias
h = torch.tanh(hpreact)
loss = -(h[:, :1].exp() / h.exp().sum(1, keepdims=True)).log().mean()
for t in [h, hpreact, bnraw, bnvar_inv]:
  t.retain_grad()
loss.backward()
dh = h.grad
dhpreact = (1.0 - h**2) * h.grad
torch.allclose(dhpreact, hpreact.grad)
