import torch

model = torch.nn.Sequential(
    torch.nn.Linear(3, 4),
    torch.nn.ReLU(),
    torch.nn.Linear(4, 1),
)
x = torch.ones(2, 3)
y = torch.zeros(2, 1)
learning_rate = 1e-2
loss_fn = torch.nn.MSELoss(reduction='sum')
for t in range(3):
    y_pred = model(x)
    loss = loss_fn(y_pred, y)
    if t == 0 or t == 2:
        print(t, loss.item())
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for param in model.parameters():
            param -= learning_rate * param.grad
linear_layer = model[0]
print(f'Result: {linear_layer.bias.sum().item():.3f} and {linear_layer.weight[:, 0].mean().item():.3f}')
print(t, param.shape)
