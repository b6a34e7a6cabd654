"""Programs that try to get out of what a drawing may do; each would leave the file CANARY behind, or hold a door to it.

A word in ⟦double brackets⟧ is what the reader of Python texts refuses by itself: it stands after the bar of
⟦evil|harmless⟧, so that the harmless word can be read, saved, and replaced within the document.
"""

import json
import re

from gradstudio.document.file import dumps
from gradstudio.program.reading.reader import read_script

HEAD = """import numpy as np
import torch
import torch.nn as nn

r = np.random.default_rng(0)
x = torch.ones(2, requires_grad=True)
fc = nn.Linear(2, 2)
"""
BODY = "import pathlib; pathlib.Path('CANARY').touch()"
OF_ARGUMENT = "def f(q):\n    g = q.{}\n    return g\n\n\nd = f({})\n"
ESCAPES = {
    "globals of a class's method": 'e = type(r).beta.func_globals["__builtins__"].exec if r is not None else 0\n'
    'y = e("BODY")\n',
    "globals of a method": 'b = r.beta.func_globals["__builtins__"] if r is not None else 0\n'
    'e = b.exec if b is not None else 0\ny = e("BODY")\n',
    "built-ins of a generator's frame": 'p = fc.parameters()\n'
    'e = p.gi_frame.f_builtins["exec"] if r is not None else 0\n'
    'y = e("BODY")\n',
    "globals of a generator's frame": 'p = fc.parameters()\ne = p.gi_frame.f_globals["torch"] if r is not None else 0\n'
    "y = e.⟦hub|zzz⟧ if e is not None else 0\n",
    "the frame behind a frame": "p = fc.parameters()\nq = next(p)\n"
    'e = p.gi_frame.f_back.f_builtins["open"] if r is not None else 0\ny = e("CANARY", "w")\n',
    "code of a generator": "p = fc.parameters()\ne = p.gi_code if p is not None else 0\n",
    "a loop's variable": 'for q in [r]:\n    g = q.beta.func_globals\n    b = g["__builtins__"]\n'
    '    e = b.exec if b is not None else 0\n    y = e("BODY")\n',
    "a definition's argument": OF_ARGUMENT.format("beta.func_globals", "r")
    + 'b = d["__builtins__"]\ne = b.exec if b is not None else 0\ny = e("BODY")\n',
    "a namespace's items": OF_ARGUMENT.format("beta.func_globals", "r")
    + 'o = d["sys"].⟦modules|zzz⟧["os"] if r is not None else 0\n',
    "globals of forward": OF_ARGUMENT.format("⟦forward.__globals__|zzz⟧", "fc"),
    "a method that takes a function": OF_ARGUMENT.format("⟦register_forward_hook|zzz⟧", "fc") + "y = d(x)\n",
    "subclasses": OF_ARGUMENT.format("⟦__class__.__base__.__subclasses__|zzz⟧", "fc") + "y = d()\n",
    "how a value is pickled": OF_ARGUMENT.format("⟦__reduce__|zzz⟧", "fc") + "y = d()\n",
    "a class that was asked for, called": "c = type(x)\ny = c(x)\n",
    "a class that is made": 't = type(type(x))\nA = t("A", (), {})\n',
    "a class that is made in a choice": 'y = type("A", (), {}) if x is not None else 0\n',
    "attributes of a class": "e = type(x).zzz if x is not None else 0\n"
    "y = e.⟦__subclasses__|zzz⟧ if x is not None else 0\n",
    "a built-in function by its name": 'e = r.beta.func_globals if r is not None else 0\n'
    'y = ⟦__import__|float⟧("os")\n',
    "a function that a module keeps": "t = nn.TransformerEncoderLayer(4, 2)\ng = t.activation\ny = g(x)\n",
    "globals of a function that a module keeps": "t = nn.TransformerEncoderLayer(4, 2)\ng = t.activation\n"
    "h = g.func_globals if g is not None else 0\n",
    "forward bound anew": "t = type(type(x))\nfc.⟦forward|zzz⟧ = t\ny = fc(x)\n",
    "a text's holes": 's = "⟦{0.forward.__globals__}|{0}⟧".format(fc)\n',
    "a text's holes that index": 's = "⟦{0.__init__.__globals__[sys]}|{0}⟧".format(fc)\n',
    "a file of an array": 'a = np.zeros(2)\nc = a.⟦tofile|sum⟧("CANARY") if a is not None else 0\n',
    "pointers of an array": "a = np.zeros(2)\nc = a.⟦ctypes|zzz⟧ if a is not None else 0\n",
    "numpy's files": "e = np.⟦lib.npyio|pi⟧ if x is not None else 0\n",
    "torch's libraries": "e = torch.⟦ops.load_library|pi⟧ if x is not None else 0\n",
    "torch's files": 'y = torch.⟦load|abs⟧("CANARY") if x is not None else 0\n',
    "a traceback": "e = x.grad_fn.tb_frame if x is not None else 0\ny = e.f_globals if e is not None else 0\n",
    "globals of an optimizer's step": "o = torch.optim.SGD([x], lr=0.1)\n"
    "e = o.⟦step|zzz⟧.func_globals if o is not None else 0\n",
    "an optimizer's hooks": "o = torch.optim.SGD([x], lr=0.1)\n"
    "e = o.⟦register_step_post_hook|zzz⟧ if o is not None else 0\ny = e(x)\n",
    "what makes a dict's items": "o = torch.optim.SGD([x], lr=0.1)\ns = o.state\n"
    "e = s.default_factory if s is not None else 0\ny = e()\n",
    "a generator's capsule": "e = r.bit_generator.capsule if r is not None else 0\n",
    "defaults of a Cython function": "e = r.normal.func_defaults if r is not None else 0\n",
}  # fmt: skip
_CHOSEN = re.compile(r"⟦([^|⟧]*)\|([^⟧]*)⟧")


def as_text(body: str) -> str:
    """The escape as a Python text, as it would be written by hand."""
    return (HEAD + _CHOSEN.sub(r"\1", body)).replace("BODY", BODY)


def as_document(body: str) -> str:
    """The escape as a document that the program's own gestures do not make."""
    harmless = (HEAD + _CHOSEN.sub(r"\2", body)).replace("BODY", BODY)
    text = dumps(read_script(harmless).graph)
    for evil, stand_in in _CHOSEN.findall(body):
        text = text.replace(json.dumps(stand_in)[1:-1], json.dumps(evil)[1:-1])
    return text
