"""A hand that goes to and fro quickly shakes; slowly, or once, it does not."""

from gradstudio.scene.edit.shake_detector import STROKE, Shake

WIDE = 2 * STROKE


def strokes(shake: Shake, count: int, each_ms: int, begin_ms: int = 0) -> int:
    """To and fro so often; how many shakes that was."""
    return sum(shake.move(WIDE * (k % 2), 0, begin_ms + k * each_ms) for k in range(1, count + 1))


def test_to_and_fro_quickly_is_a_shake_once() -> None:
    assert strokes(Shake(0, 0), 5, 100) == 1


def test_slow_strokes_and_small_ones_are_none() -> None:
    assert strokes(Shake(0, 0), 8, 1000) == 0
    shake = Shake(0, 0)
    assert not any(shake.move(5.0 * (k % 2), 0, k * 50) for k in range(20))


def test_a_long_shake_counts_once_and_one_after_a_pause_again() -> None:
    shake = Shake(0, 0)
    assert strokes(shake, 12, 100) == 1
    assert strokes(shake, 6, 100, begin_ms=5000) == 1
