import os
import random
import time
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
random.seed(0)
torch.manual_seed(0)
started = time.time()
loader = DataLoader(TensorDataset(torch.rand(8, 3), torch.randint(0, 2, (8,))), batch_size=4)
for X, y in loader:
    print(f"{X.shape} {y.dtype}")
    break

device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
print(f"Using {device} device", os.path.basename(__file__))
model = nn.Linear(3, 2).to(device)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)


def train(loader, model, loss_fn, optimizer):
    for batch, (X, y) in enumerate(loader):
        X, y = X.to(device), y.to(device)
        loss = loss_fn(model(X), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"{batch} {loss.item():>7f}")


for t in range(2):
    train(loader, model, loss_fn, optimizer)
elapsed = random.random()
started = 0
