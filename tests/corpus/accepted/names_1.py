# names in the manner of makemore
import torch
import torch.nn.functional as F

g = torch.Generator().manual_seed(2147483647) # for reproducibility
C = torch.randn((27, 2),            generator=g)
W1 = torch.randn((6, 20),           generator=g) * 0.2
b1 = torch.randn(20,                generator=g) * 0.01
W2 = torch.randn((20, 27),          generator=g) * 0.01
b2 = torch.randn(27,                generator=g) * 0
parameters = [C, W1, b1, W2, b2]
for p in parameters:
  p.requires_grad = True

Xtr = torch.randint(0, 27, (50, 3), generator=g)
Ytr = torch.randint(0, 27, (50,), generator=g)
max_steps = 5
batch_size = 8
lossi = []
for i in range(max_steps):
  # minibatch construct
  ix = torch.randint(0, Xtr.shape[0], (batch_size,), generator=g)
  Xb, Yb = Xtr[ix], Ytr[ix] # batch X,Y

  # forward pass
  emb = C[Xb] # embed the characters into vectors
  embcat = emb.view(emb.shape[0], -1) # concatenate the vectors
  h = torch.tanh(embcat @ W1 + b1) # hidden layer
  logits = h @ W2 + b2 # output layer
  loss = F.cross_entropy(logits, Yb) # loss function

  # backward pass
  for p in parameters:
    p.grad = None
  loss.backward()

  # update
  lr = 0.1 / (i + 1)
  for p in parameters:
    p.data += -lr * p.grad

  # track stats
  if i % 2 == 0: # print every once in a while
    print(f'{i:7d}/{max_steps:7d}: {loss.item():.4f}')
  lossi.append(loss.log10().item())
