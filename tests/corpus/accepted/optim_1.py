import torch
from torch import nn, optim, tensor

torch.manual_seed(7)
x = torch.randn(6, 3); y = x @ tensor([[1.], [2.], [-1.]]) + 0.5
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
sched = optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
for epoch in range(5):
    opt.zero_grad()
    loss = (net(x) - y).square().mean()
    loss.backward()
    opt.step()
    sched.step()
lr = sched.get_last_lr()
now = opt.param_groups[0]['lr']
print(lr, now)
net.weight.data, net.bias.data
