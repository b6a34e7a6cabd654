import torch

t = torch.rand(4, 4)
b = t.view(2, 8)
b[0][0] = 3.14  # writes through the view
t[0][0]

base = torch.tensor([[0, 1],[2, 3]])
base.is_contiguous()
tr = base.transpose(0, 1)
tr.is_contiguous()
c = tr.contiguous(); d = c.view(-1)
s = base.t().stride(), base.stride()
flat = base.flatten()
u = base.unsqueeze(0).squeeze()
e = torch.tensor([[1], [2], [3]]).expand(3, 4)
e2 = torch.tensor([1, 2, 3]).expand(2, -1)
p = torch.randn(2, 3, 5).permute(2, 0, 1)
p.size()
n = torch.arange(10.).narrow(0, 2, 5)
ch = torch.arange(11).chunk(6)
sp = torch.arange(10).reshape(5, 2).split([1, 4])
first, *rest = p.shape
