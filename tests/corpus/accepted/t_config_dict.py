import torch
from torch import nn

torch.manual_seed(0)
config = {"hidden": 16, "lr": 1e-2, "epochs": 3}
history = {"loss": [], "acc": []}
model = nn.Sequential(nn.Linear(2, config["hidden"]), nn.Tanh(), nn.Linear(config["hidden"], 2))
opt = torch.optim.Adam(model.parameters(), lr=config["lr"])
X = torch.randn(20, 2)
y = (X[:, 0] > 0).long()
for epoch in range(config["epochs"]):
    out = model(X)
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    history["loss"].append(loss.item())
    history["acc"].append((out.argmax(1) == y).float().mean().item())
print(history["loss"][-1])
