"""Shapes before a run (SEMANTICS 16)."""

from collections.abc import Callable

from gradstudio.protocol.messages import Infer, Inferred


class Inference:
    """Answers `Infer`."""

    def infer(self, request: Infer, load_file: Callable[..., object]) -> Inferred:
        """Nothing is known before a run, for now."""
        return Inferred(revision=request.revision, ports=())
