import torch
x = torch.ones(2)
x.add_(1), x.mul_(3)
print(x.add_(1), x, x.sub_(2))
y = x.add_(1) + x.mul_(2)
z = x.clone().add_(1).mul_(x) - x
a = [0, 0, 0]
i = 0
i, a[i] = 2, 5
a[i], i = 7, 1
lst = [1]
other = lst
lst += [2]
tup = (1,)
same = tup
tup += (2,)
s = "a"
s += "b"
k = 3
k **= 2
k //= 2
v = torch.ones(2)
w = v
v += 1
v = v + 1
w *= 10
u = t = v
u -= 1
x[0] += 1; x[1] = x[0] = 9
n = x[0]
n += 1
m = x[0].item()
m += 1
