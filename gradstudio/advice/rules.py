"""torch's usual errors: pattern, explanation, fixes, example; the first rule that matches explains."""

from gradstudio.advice.model import Rule
from gradstudio.advice.rules_gradients import GRADIENTS
from gradstudio.advice.rules_shapes import SHAPES
from gradstudio.advice.rules_types import TYPES

RULES: tuple[Rule, ...] = (*SHAPES, *GRADIENTS, *TYPES)
