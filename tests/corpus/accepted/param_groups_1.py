# The learning rate of an optimizer, read and changed by hand and by a schedule.
import torch
from torch import nn, optim

torch.manual_seed(1)
model = nn.Linear(3, 1)
x = torch.randn(8, 3)
y = x.sum(dim=1, keepdim=True)
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
start = optimizer.param_groups[0]["lr"]
rates = []
for epoch in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
    rates.append(scheduler.get_last_lr()[0])
    print(f"{epoch}: loss {loss.item():.4f}, lr {optimizer.param_groups[0]['lr']:.4f}")
for group in optimizer.param_groups:
    group["lr"] = 0.01
optimizer.param_groups[0]["momentum"] *= 0.5
end = optimizer.param_groups[0]["lr"]
momentum = optimizer.param_groups[0]["momentum"]
groups = len(optimizer.param_groups)
plateau = optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min", patience=0)
plateau.step(1.0)
plateau.step(2.0)
reduced = optimizer.param_groups[0]["lr"]
