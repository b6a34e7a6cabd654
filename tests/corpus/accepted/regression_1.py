import torch

torch.manual_seed(0)
true_w, true_b = torch.tensor([2, -3.4]), 4.2
X = torch.normal(0, 1, (100, len(true_w)))
y = torch.matmul(X, true_w) + true_b
y += torch.normal(0, 0.01, y.shape)
features, labels = X, y.reshape((-1, 1))
w = torch.normal(0, 0.01, size=(2, 1), requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr, num_epochs, batch_size = 0.03, 3, 20
for epoch in range(num_epochs):
    for start in range(0, 100, batch_size):
        xb = features[start:start + batch_size]; yb = labels[start:start+batch_size]
        l = (torch.matmul(xb, w) + b - yb) ** 2 / 2
        l.sum().backward()
        with torch.no_grad():
            for param in (w, b):
                param -= lr * param.grad / batch_size
                param.grad.zero_()
    with torch.no_grad():
        train_l = (torch.matmul(features, w) + b - labels) ** 2 / 2
        print(f'epoch {epoch + 1}, loss {float(train_l.mean()):f}')
print(f'error in estimating w: {true_w - w.reshape(true_w.shape)}')
