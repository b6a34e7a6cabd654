import torch

dtype = torch.float
x = torch.linspace(-1, 1, 30, dtype=dtype)
y = torch.cos(x)
a = torch.randn((), dtype=dtype, requires_grad=True)
b = torch.randn((), dtype=dtype, requires_grad=True)

learning_rate = 1e-2
for t in range(10):
    y_pred = a + b * x
    loss = (y_pred - y).pow(2).sum()
    if t % 5 == 4:
        print(t, loss.item())
    loss.backward()
    with torch.no_grad():
        a -= learning_rate * a.grad
        b -= learning_rate * b.grad

        # Manually zero the gradients after updating weights
        a.grad = None
        b.grad = None
