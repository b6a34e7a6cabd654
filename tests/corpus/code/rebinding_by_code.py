import torch

n = 1
x = torch.ones(2)
y = x * n
exec_order = []
for k in range(3):
    if k == 1:
        n = 5
        exec_order.append("five")
    else:
        exec_order.append(str(n))
z = x * n
x = None
x = x or torch.zeros(2)
w = x + n
print(exec_order, z, w)
