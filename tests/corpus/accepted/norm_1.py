import torch
from torch import nn

torch.manual_seed(11)
x = torch.randn(4, 6)
bn = nn.BatchNorm1d(6)
ln = nn.LayerNorm(6)
gn = nn.GroupNorm(num_groups=3, num_channels=6)
y1, y2, y3 = bn(x), ln(x), gn(x)
mu = x.mean(-1, keepdim=True)
var = x.var(-1, keepdim=True, unbiased=False)
mine = (x - mu) / torch.sqrt(var + ln.eps)
assert_close = (mine - y2).abs().max()
bn.running_mean, bn.running_var
bn.eval()
y4 = bn(x)
drop = nn.Dropout(p=0.5)
d1 = drop(x)
drop.eval()
d2 = drop(x)
drop.training
