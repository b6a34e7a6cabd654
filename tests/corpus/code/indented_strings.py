import textwrap

import torch

for k in range(2):
    x = torch.ones(k + 1)
    message = textwrap.dedent("""
        line one
          line two
    """)
    table = {
        "k": k,
        "text": """keep
  this""",
    }
    total = x.sum()
length = len(message), len(table["text"])
print(message, length)
