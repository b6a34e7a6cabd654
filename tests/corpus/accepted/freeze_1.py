import torch
from torch import nn

torch.manual_seed(2)
backbone = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8))
head = nn.Linear(8, 2)
# Freeze all the parameters in the network
for param in backbone.parameters():
    param.requires_grad = False
for name, param in head.named_parameters():
    print(name, param.shape)
    nn.init.constant_(param, 0.1)
model = nn.Sequential(backbone, head)
optimizer = torch.optim.SGD(model[1].parameters(), lr=1e-2, momentum=0.9)
prediction = model(torch.rand(3, 4))
loss = (prediction - 1).sum()
loss.backward()
optimizer.step()
print(backbone[0].weight.grad is None)
model[1].weight[0]
