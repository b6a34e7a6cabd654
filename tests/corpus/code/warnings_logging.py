import logging
import warnings

import torch

logging.basicConfig(level=logging.INFO, format="%(message)s")
logger = logging.getLogger(__name__)
logger.setLevel(logging.INFO)
warnings.filterwarnings("ignore")
logger.debug("begin")
x = torch.ones(2)
level = logger.getEffectiveLevel()
warnings.warn("nobody hears this")
y = x + level
print(y)
