from gradstudio.scripting import draw as draw
from gradstudio.scripting import record as record

__version__: str
