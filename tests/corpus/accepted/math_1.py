import math

import numpy as np
import torch

x = 0.75
values = [math.sin(x), math.cos(x), math.tanh(x), math.exp(-x), math.log(x), math.sqrt(x)]
angle = math.degrees(math.atan2(1.0, math.sqrt(3)))
logistic = 1 / (1 + math.exp(-x))
whole = math.floor(-x) + math.ceil(x) + round(2.5) + int(-1.9)
close = math.isclose(math.pi, np.pi) and math.isinf(float("inf")) and not math.isnan(x)
ways = math.comb(5, 2) + math.factorial(4) + math.gcd(12, 18)
scale = 1 / math.sqrt(2 * math.pi * 0.5**2)
density = scale * torch.exp(-0.5 / 0.5**2 * torch.linspace(-1, 1, 5) ** 2)
far = math.hypot(3, 4) + math.dist([0, 0], [1, 1])
quotient, rest = divmod(17, 5)
power = pow(2, 10) + 2**-1
small = min(0.1, x, 3) if x > 0 else -math.inf
folds = abs(-3) // 2 + -7 // 2 + -7 % 3
number = complex(1, 2) * 1j
shifts = (1 << 4 | 3) & ~1 ^ 8
hexed = hex(shifts) + bin(5) + chr(65) + str(ord("a"))
bound = math.sqrt(6 / (3 + 4))
w = torch.full((2,), bound)
norm = math.sqrt((w**2).sum().item())
