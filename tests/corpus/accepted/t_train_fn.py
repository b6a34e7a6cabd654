import torch
from torch import nn

torch.manual_seed(0)
X = torch.randn(64, 4)
y = (X.sum(dim=1) > 0).long()
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)


def train(X, y, model, loss_fn, optimizer):
    model.train()
    pred = model(X)
    loss = loss_fn(pred, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


@torch.no_grad()
def test(X, y, model, loss_fn):
    model.eval()
    pred = model(X)
    test_loss = loss_fn(pred, y).item()
    correct = (pred.argmax(1) == y).type(torch.float).sum().item()
    correct /= len(X)
    print(f"Test Error: \n Accuracy: {(100*correct):>0.1f}%, Avg loss: {test_loss:>8f} \n")


epochs = 3
for t in range(epochs):
    print(f"Epoch {t+1}\n-------------------------------")
    train(X, y, model, loss_fn, optimizer)
    test(X, y, model, loss_fn)
print("Done!")
