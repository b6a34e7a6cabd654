import torch
from torch import nn
from torch.utils import data
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset, random_split

torch.manual_seed(0)
X = torch.randn(20, 3)
y = torch.randn(20, 1)
whole = TensorDataset(X, y)
train, val = random_split(whole, [16, 4], generator=torch.Generator().manual_seed(1))
both = ConcatDataset([train, Subset(whole, [0, 1, 2])])
loader = DataLoader(both, batch_size=8, shuffle=True, drop_last=True)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for epoch in range(2):
    for i, (xb, yb) in enumerate(loader):
        loss = nn.functional.mse_loss(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
print(total, len(loader), len(val), len(both), loader.batch_size)
for xb, yb in DataLoader(val, batch_size=2):
    print(xb.shape, yb.sum())
xv, yv = next(iter(loader))
weighted = data.WeightedRandomSampler([0.1, 0.9, 0.5], 5)
for (row,) in data.DataLoader(TensorDataset(torch.arange(3)), sampler=weighted, batch_size=2):
    print(row)
batches = data.BatchSampler(data.SequentialSampler(range(5)), batch_size=2, drop_last=False)
print(list(batches), list(data.RandomSampler(range(4))), list(data.SubsetRandomSampler([3, 1])))
stacked = data.default_collate([(torch.ones(2), 1), (torch.zeros(2), 2)])
print(stacked, whole.tensors[0].shape, len(Subset(whole, [1, 2]).indices))
