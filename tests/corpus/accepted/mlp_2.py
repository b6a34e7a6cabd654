import torch

batch_size, num_inputs, num_outputs, num_hiddens = 8, 20, 5, 16
X = torch.rand(batch_size, 1, 4, 5)
y = torch.randint(0, num_outputs, (batch_size,))
W1 = torch.nn.Parameter(torch.randn(num_inputs, num_hiddens) * 0.01)
b1 = torch.nn.Parameter(torch.zeros(num_hiddens))
W2 = torch.nn.Parameter(torch.randn(num_hiddens, num_outputs) * 0.01)
b2 = torch.nn.Parameter(torch.zeros(num_outputs))
params = [W1, b1, W2, b2]
X = X.reshape((-1, num_inputs))
H = torch.max(X @ W1 + b1, torch.zeros_like(X @ W1))
O = H @ W2 + b2
l = torch.nn.CrossEntropyLoss(reduction='none')(O, y)
l.mean().backward()
updater = torch.optim.SGD(params, lr=0.1)
updater.step()
for param in params:
    param.grad.norm()
