import torch
# dynamic programming with item writes
n = 6
fib = torch.zeros(n, dtype=torch.long)
fib[0], fib[1] = 0, 1
for i in range(2, n):
    fib[i] = fib[i - 1] + fib[i - 2]
dp = [0] * 4
dp[0] = 1
for i in range(1, 4):
    dp[i] = dp[i - 1] * 2
table = [[0, 0], [0, 0]]
table[1][0] = 5
tri = torch.zeros(3, 3)
for i in range(3):
    for j in range(i + 1):
        tri[i, j] = i * 10 + j
for i in range(n - 1, -1, -2):
    fib[i] *= -1
rev = list(reversed(dp))
pos = torch.zeros(4, 6)
position = torch.arange(0, 4, dtype=torch.float).unsqueeze(1)
div_term = torch.exp(torch.arange(0, 6, 2).float() * (-torch.log(torch.tensor(10000.0)) / 6))
pos[:, 0::2] = torch.sin(position * div_term)
pos[:, 1::2] = torch.cos(position * div_term)
print(fib, dp, table)
