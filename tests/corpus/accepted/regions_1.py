import torch

# region: Data
x = torch.linspace(0, 1, 5)  # five points
y = 2 * x + 1
# endregion

# region: Model
w = torch.zeros(1, requires_grad=True)

# region: Inner
b = torch.zeros(1, requires_grad=True)
# endregion
# endregion
for _ in range(2):
    # region: Step
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    # endregion
    with torch.no_grad():
        w -= w.grad; b -= b.grad
        w.grad = b.grad = None
# the end
