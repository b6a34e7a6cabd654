import torch
import matplotlib.pyplot as plt  # refused: Take its lines out
x = torch.linspace(0, 1, 5)
plt.plot(x, x ** 2)
