import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
x, y = torch.randn(10, 3), torch.randn(10)
losses = []
best = float('inf')
for epoch in range(20):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
    if epoch % 5 == 0:
        losses.append(loss.item())
    if loss.item() < best:
        best = loss.item()
    if (epoch + 1) % 10 == 0:
        acc = (x @ w - y).abs().mean()
        print(f"epoch {epoch + 1} {acc.item():.4f}")
print(losses, best)
