from gradstudio.scripting import draw as draw
from gradstudio.scripting import record as record
from gradstudio.scripting import show as show

__version__: str
