import torch

a = torch.zeros(3)
b = a
b += 1
a
a = a + 1
a, b
x = torch.tensor([1., 2., 3.])
x.mul_(2).add_(1)
x.sub_(0.5); x.clamp_(0, 5)
x[0], x[1] = x[1].clone(), x[0].clone()
y = torch.empty(2, 2).fill_(7)
y.zero_()
z = torch.arange(6.).view(2, 3)
z[:, 0] = 0
z[1] -= z[0]
z.t_()
torch.relu_(z)
n, m = 3, 4
n, m = m, n
