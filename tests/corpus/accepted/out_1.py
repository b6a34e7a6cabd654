# Results that are written into tensors which are there already.
import torch

torch.manual_seed(3)
rows = torch.rand(3, 4)
product = torch.empty(3, 3)
torch.matmul(rows, rows.T, out=product)
scaled = product * 2
torch.mul(rows, rows, out=rows)
best = torch.empty(3)
where = torch.empty(3, dtype=torch.int64)
torch.max(rows, 1, out=(best, where))
total = best.sum()
again = torch.add(best, 1, out=best)
counter = torch.zeros(2)
for step in range(3):
    torch.add(counter, step, out=counter)
torch.arange(2, out=counter)
with torch.no_grad():
    weight = torch.ones(2, requires_grad=True)
    torch.sub(weight, 0.5, out=weight)
loss = (weight * counter).sum()
loss.backward()
