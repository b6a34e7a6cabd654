import torch

num_steps, batch_size, vocab, num_hiddens = 4, 2, 5, 3
torch.manual_seed(0)
W_xh = torch.randn(vocab, num_hiddens) * 0.1
W_hh = torch.randn(num_hiddens, num_hiddens) * 0.1
b_h = torch.zeros(num_hiddens)
X = torch.nn.functional.one_hot(torch.arange(num_steps * batch_size).reshape(num_steps, batch_size) % vocab, vocab).float()
for param in [W_xh, W_hh, b_h]:
    param.requires_grad_(True)
state = torch.zeros((batch_size, num_hiddens))
outputs = []
for x in X:
    state = torch.tanh(torch.mm(x, W_xh) + torch.mm(state, W_hh) + b_h)
    outputs.append(state)
Y = torch.cat(outputs, dim=0)
Y.sum().backward()
norm = torch.sqrt(torch.sum(W_hh.grad ** 2) + (b_h.grad ** 2).sum())
W_hh.grad[:] *= 1 / norm
