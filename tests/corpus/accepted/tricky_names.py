import torch
a = torch.ones(2)
b = a
a = a * 2
b.add_(1)
c, d = a, b
a, b = b, a
e = f = a
f = f + e
f.add_(1)
_ = a.sum()
_, idx = a.max(0)
tmp = a; a = b; b = tmp
l = [a, b]
l[0] = c
l[0].add_(5)
m = l.copy()
m.append(d)
n = l[::-1]
del_ = 3
print_ = 4
l2 = l * 2
t = tuple(l)
first = t[0] is c
s1, *s2 = "abc"
x = -a ** 2
y = (-a) ** 2
z = not True
w = 1 if a.sum() > 0 else 2
v = a.sum() > 0 and b.sum() > 0
