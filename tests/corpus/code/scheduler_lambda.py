import torch

w = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lambda epoch: 0.5**epoch)
rates = []
for epoch in range(3):
    optimizer.zero_grad()
    (w**2).sum().backward()
    optimizer.step()
    scheduler.step()
    rates.append(optimizer.param_groups[0]["lr"])
print(rates, w)
