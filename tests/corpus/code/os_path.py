import os
import os.path as osp
from pathlib import Path

import torch

here = os.path.dirname(os.path.abspath("x.py"))
name = osp.splitext("model.pt")[0]
joined = os.path.join("a", "b", "c.txt")
suffix = Path("some/file.tar.gz").suffix
exists = os.path.exists("surely/not/there")
x = torch.ones(2) * len(joined)
print(name, joined.replace(os.sep, "/"), suffix, exists)
