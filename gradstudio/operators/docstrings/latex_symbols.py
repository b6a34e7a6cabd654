"""What LaTeX's commands look like as text: a table of data."""

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π",
    "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "digamma": "ψ", "ell": "ℓ", "hbar": "ħ",
    "infty": "∞", "nabla": "∇", "partial": "∂", "top": "⊤", "bot": "⊥", "emptyset": "∅", "Re": "Re", "Im": "Im",
    "ldots": "…", "dots": "…", "cdots": "⋯", "vdots": "⋮", "ddots": "⋱", "prime": "′", "degree": "°",
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "langle": "⟨", "rangle": "⟩",
    "lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]", "lvert": "|", "rvert": "|", "vert": "|", "mid": " | ",
    "lVert": "‖", "rVert": "‖", "Vert": "‖", "|": "‖", "forall": "∀", "exists": "∃", "neg": "¬", "colon": ":",
    "sum": "∑", "prod": "∏", "int": "∫", "iint": "∬", "oint": "∮", "bigcup": "⋃", "bigcap": "⋂", "backslash": "\\",
    "dagger": "†", "square": "□", "checkmark": "✓", "imath": "i", "jmath": "j",
}  # fmt: skip
"""Commands that stand for a sign with nothing around it."""

RELATIONS = {
    "times": "×", "cdot": "·", "odot": "⊙", "otimes": "⊗", "oplus": "⊕", "star": "⋆", "ast": "∗", "div": "÷",
    "pm": "±", "mp": "∓", "circ": "∘", "bullet": "•", "wedge": "∧", "vee": "∨", "land": "∧", "lor": "∨",
    "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "lt": "<", "gt": ">", "ll": "≪", "gg": "≫",
    "approx": "≈", "sim": "∼", "simeq": "≃", "cong": "≅", "equiv": "≡", "propto": "∝", "coloneqq": "≔",
    "in": "∈", "notin": "∉", "ni": "∋", "subset": "⊂", "subseteq": "⊆", "supset": "⊃", "supseteq": "⊇", "cup": "∪",
    "cap": "∩", "setminus": "∖", "to": "→", "rightarrow": "→", "leftarrow": "←", "gets": "←", "Rightarrow": "⇒",
    "Leftarrow": "⇐", "leftrightarrow": "↔", "iff": "⇔", "implies": "⇒", "mapsto": "↦", "longrightarrow": "⟶",
    "perp": "⊥", "parallel": "∥", "mod": "mod", "bmod": "mod",
}  # fmt: skip
"""Commands for signs that stand between two things, with room around them."""

FUNCTIONS = frozenset(
    "log ln exp sin cos tan sinh cosh tanh arcsin arccos arctan cot sec csc max min sup inf lim limsup liminf det dim"
    " ker arg argmax argmin gcd Pr sgn deg hom erf".split()
)
"""Commands that are names of functions."""

SPACES = {
    ",": " ", ":": " ", ";": " ", " ": " ", "quad": "\u2002", "qquad": "\u2003", "!": "", "enspace": " ",
    "thinspace": " ", "medspace": " ", "thickspace": " ", "space": " ", "nobreakspace": " ", "hfill": "  ",
}  # fmt: skip

SILENT = frozenset(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr middle limits nolimits displaystyle textstyle"
    " scriptstyle rm bf it sf tt cal boldmath normalsize small large nonumber notag hline centering".split()
)
"""Commands that only arrange: nothing is shown for them."""

WRAPPERS = {
    "text": (), "mathrm": (), "operatorname": (), "textrm": (), "mbox": (), "mathsf": (), "textsf": (), "hbox": (),
    "mathrlap": (), "mathllap": (), "mathclap": (), "mathbin": (), "mathrel": (), "mathop": (), "mathord": (),
    "cancel": (), "boxed": (), "underline": (), "phantom": (), "shape": (), "ensuremath": (), "substack": (),
    "textbf": ("strong",), "mathbf": ("strong",), "bm": ("strong",), "boldsymbol": ("strong",), "pmb": ("strong",),
    "textit": ("emphasis",), "mathit": ("emphasis",), "mathcal": ("emphasis",), "mathscr": ("emphasis",),
    "emph": ("emphasis",), "mathfrak": ("emphasis",), "texttt": ("code",), "mathtt": ("code",),
    "underbrace": (), "overbrace": (), "mathbb": (),
}  # fmt: skip
"""Commands around a group, and the marks they give it."""

WORDS = frozenset("text textrm textbf textit texttt textsf mbox hbox emph operatorname mathrm mathtt".split())
"""Wrappers whose group is words: their spaces count."""

ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "overline": "\u0305", "tilde": "\u0303",
    "widetilde": "\u0303", "vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308",
}  # fmt: skip
"""Commands that put a sign above the first letter of their group."""

LOWERED = dict(zip("0123456789+−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
RAISED = dict(zip("0123456789+−=()in", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱⁿ", strict=True))
"""Signs for what is lowered or raised within what is already: rich text has one such step only."""

DOUBLE_STRUCK = {
    "R": "ℝ", "N": "ℕ", "Z": "ℤ", "Q": "ℚ", "C": "ℂ", "P": "ℙ", "H": "ℍ", "E": "𝔼", "K": "𝕂", "F": "𝔽", "1": "𝟙",
}  # fmt: skip
