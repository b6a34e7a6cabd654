import torch

torch.manual_seed(1)
w = torch.zeros(2, requires_grad=True)
x = torch.randn(16, 2)
y = x @ torch.tensor([1.5, -2.0]) + 0.3
lr = 0.1
verbose = True
best = float("inf")
for step in range(12):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
    w.grad = None
    best = loss.item() if loss.item() < best else best
    if verbose and (step % 4 == 0 or step == 11):
        print(f"step {step:>3d} | loss {loss.item():.4f} | best {best:.4f}")
    if not step % 6 and step > 0:
        print("\tsix more")
    if 3 < step <= 5:
        print("between", step, sep=": ")
done = best < 0.1 or step == 11
