import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(20, 2)
y = x.sum(1, keepdim=True)
model = nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
best_loss = float("inf")
patience, bad = 2, 0
best_state = None
for epoch in range(50):
    model.train()
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    if loss.item() < best_loss - 0.5:
        best_loss = loss.item()
        best_state = copy.deepcopy(model.state_dict())
        bad = 0
    else:
        bad += 1
        if bad >= patience:
            print("stop at", epoch)
            break
keys = sorted(best_state)
