import subprocess
import sys

import torch

out = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True)
answer = int(out.stdout)
x = torch.ones(2) * answer
print(answer)
