"""What a good teacher would see in kept runs: planted bugs by their cause, their ways out, and right ones left alone.

The engine runs the same programs in tests/engine/test_teaching_programs.py, and tells the same of them.
"""

import difflib
import functools
import re

import pytest

from gradstudio.advice.model import Fix
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from tests.advice.teaching_programs import (
    RECORDINGS,
    Teaching,
    Told,
    alarms,
    is_found,
    programs,
    recorded,
    told_of,
    ways_out,
)
from tests.helpers import recordings

PLANTED, RIGHT = recorded("planted"), recorded("right")
BY_NAME = {program.name: program for program in (*PLANTED, *RIGHT)}


def _name(program: Teaching) -> str:
    return program.name


@functools.cache
def _told(program: Teaching) -> list[Told]:
    return told_of(read_script(program.text).graph, recordings.kept_run(f"{RECORDINGS}/{program.name}"))


@functools.cache
def _graph_and_fixes(program: Teaching) -> tuple[Graph, list[Fix]]:
    """The program's graph, and the ways out of what is wrong with its run."""
    graph = read_script(program.text).graph
    return graph, ways_out(graph, recordings.kept_run(f"{RECORDINGS}/{program.name}"))


def _new_lines(graph: Graph, fix: Fix) -> list[str]:
    """The lines of the program that a fix brings, without their indentation."""
    assert fix.edits is not None
    before = compile_graph(graph).code.splitlines()
    mended = graph.copy()
    apply_all(mended, fix.edits)
    after = compile_graph(mended).code.splitlines()
    return [line[2:].strip() for line in difflib.ndiff(before, after) if line.startswith("+ ")]


def test_most_planted_bugs_and_many_right_programs_are_kept() -> None:
    assert len(PLANTED) >= 0.8 * len(programs("planted"))
    assert len(RIGHT) >= 0.5 * len(programs("right"))


@pytest.mark.parametrize("program", PLANTED, ids=_name)
def test_a_planted_bug_is_told_of_by_its_cause_at_its_node(program: Teaching) -> None:
    told = _told(program)
    assert is_found(program, told), [f"{one.problem.severity} {one.address}: {one.problem.title}" for one in told]


@pytest.mark.parametrize("program", RIGHT, ids=_name)
def test_of_a_right_program_nothing_more_than_a_note_is_told(program: Teaching) -> None:
    assert alarms(_told(program)) == []


TITLES = {
    "log_of_zero": "error y: −inf is born in y: the log of 0; it becomes NaN in *",
    "sqrt_at_zero": "error d: The gradient becomes inf in d, and NaN behind it: the slope of √x is 1/(2√x), "
    "which is infinite at 0",
    "dead_relu": "warning h: No gradient passes h: every input is below 0, where relu is flat",
    "weights_all_zero": "warning out: No gradient passes out: w2 is 0 everywhere, and what is multiplied by 0 sends 0 "
    "back",
    "saturated_gates": "warning gate: The inputs are not normalised (x reaches 1.31e3), so sigmoid is saturated in "
    "gate: 96 % of its values lie at its ends",
    "recurrence_that_explodes": "error h: h grows ×11 a turn since turn 1 and overflows in turn 38",
    "recurrence_with_relu_explodes": "warning h: h grows ×4.8 a turn since turn 1",
    "unnormalised_features_overflow": "error opt: The inputs are not normalised (area reaches 4e3), so the learning "
    "rate (lr=0.01) is too high: loss grows ×1.5e10 a step since step 1 and overflows in step 4",
    "no_zero_grad": "warning backward_1: Gradients add up over the steps of opt: nothing zeroes them in between",
    "zeroed_every_other_step": "warning backward_1: Gradients add up over some of the steps of opt: they are not "
    "zeroed before every backward",
    "no_zero_grad_by_hand": "warning backward_1: Gradients add up over the updates of w: nothing zeroes them in "
    "between",
    "train_function_without_zero": "warning step/backward_1: In train_step ▸ backward: Gradients add up over the steps "
    "of opt: nothing zeroes them in between",
    "zero_grad_before_step": "warning step_1: opt steps without gradients: zero_grad stands between the backward and "
    "the step",
    "no_backward_before_step": "warning step_1: opt steps without gradients: no backward has reached its parameters "
    "before",
    "frozen_layer_in_the_optimizer": "warning opt: opt is to update head, which is frozen: it does not require grad",
    "unfrozen_layer_left_out": "warning opt: opt does not update body: it was not given to it",
    "bias_left_out_of_the_optimizer": "warning opt: opt does not update b: it was not given to it",
    "detached_encoder_to_be_trained": "warning z: z cuts encoder off from the loss (detach gives a tensor "
    "that does not require grad): encoder gets no gradient",
    "unused_layer": "warning fc2: fc2 gets no gradient: nothing the backward began from was computed from it",
    "loss_summed_as_tensor": "warning total: total keeps the graph of every turn: it adds up a tensor that requires "
    "grad",
    "trained_in_eval_mode": "warning y: model is in eval mode while it is trained: train() is missing",
    "eval_forgotten": "warning call_2: model is in training mode where it is evaluated: eval() is missing",
    "update_that_climbs": "warning iadd_1: The update of w adds the gradient instead of taking it away: loss grows "
    "×1.5 a step since step 1",
    "hidden_state_with_its_graph": "warning backward_1: Each backward goes through all turns before it: h brings its "
    "graph along from turn to turn",
    "step_first_in_the_turn": "warning step_1: opt steps before the backward: each step goes by the gradients of the "
    "turn before",
    "step_before_backward_in_a_function": "warning step/step_1: In train_step ▸ step: opt steps without gradients: the "
    "step stands before the backward, and zero_grad before both",
    "gradient_zeroed_before_the_update": "warning isub_1: The updates of w go by gradients of 0: w.grad is zeroed "
    "between the backward and the update",
    "deep_prediction_computed_once": "error step_1: opt.step() changed weights that this backward needs: it stands "
    "between the forward and the backward.",
    "loss_computed_once": "warning backward_1: loss is computed once, before the loop: each backward gives the "
    "gradient of the first weights",
    "two_losses_and_a_step_between": "warning backward_2: loss2 was computed before opt stepped: its gradient is that "
    "of the old weights",
    "weight_rebound_with_its_graph": "error w: w is no leaf: `w = w - 0.1 * w.grad` computes a new tensor, and "
    "only leaves keep their gradient, so w.grad is None.",
    "layers_in_a_plain_list": "warning opt: opt does not update Linear: parameters() does not list what is in a plain "
    "list, or no nn.Parameter",
    "shuffled_apart": "warning loss: mse_loss compares examples in two random orders: randperm is drawn twice, for the "
    "inputs and for the targets",
    "scheduler_forgotten": "warning scheduler: scheduler never steps: the learning rate stays what it is",
    "optimizer_made_anew_each_turn": "warning opt: opt is made anew in each turn of for i: what it keeps from step to "
    "step (momentum, averages) begins from nothing",
    "weights_shared_by_mistake": "warning net: layer is in net 2 times: the same weights, not copies",
    "functional_dropout_stays_on": "warning y/h: In Net ▸ h: dropout in h drops out in evaluation, too: as a function "
    "it does not know of eval()",
    "softmax_over_the_batch": "warning p: log_softmax in p runs over the batch (dimension 0), not over the classes",
    "attention_softmax_over_queries": "warning a: softmax in a runs over dimension 0: over the queries, not over the "
    "keys",
    "integer_division_of_pixels": "warning x: // rounds down in x, and of images (at most 254) nothing but 0 is left",
    "one_bad_batch_spoils_the_weights": "error h: NaN is born in h in turn 3: 0/0",
    "adam_without_eps": "error step_1: NaN is born in opt.step() in turn 1: eps is 0, and where a gradient has always "
    "been 0 the step is 0/0",
    "nan_in_the_data": "error data: data holds NaN",
    "ages_and_incomes_into_sigmoids": "warning pred: The inputs are not normalised (x reaches 8.97e4), so sigmoid is "
    "saturated in pred: no gradient passes",
    "no_grad_method_in_a_class": "error call_1/call_1: Net ▸ enc(…) stands under no_grad, so model.enc gets no "
    "gradient",
    "net_made_anew_in_the_loop": "warning net: net is made anew in each turn of for epoch: what it has learnt is lost",
    "loss_summed_over_the_data": "warning opt: loss is a sum over 1,000 numbers, not their mean, so the learning "
    "rate (lr=0.01) is too high: loss grows ×3.7e2 a step since step 1",
    "batch_as_features": "warning y: view to [3, 10] mixes up the elements of x [10, 3]: it is no transpose",
}


@pytest.mark.parametrize(("name", "title"), TITLES.items(), ids=TITLES)
def test_the_first_thing_that_is_told_is_the_cause(name: str, title: str) -> None:
    first = _told(BY_NAME[name])[0]
    assert f"{first.problem.severity} {first.address}: {first.problem.title}" == title


@pytest.mark.parametrize(
    "name",
    ["nan_in_running_statistics", "one_bad_batch_spoils_the_weights", "adam_without_eps"],
)
def test_where_a_nan_only_passes_nothing_is_told(name: str) -> None:
    odd = [one for one in _told(BY_NAME[name]) if "not_finite" in one.problem.kind]
    assert [one.problem.severity for one in odd] == ["error"]


@pytest.mark.parametrize("name", ["slope_that_a_relu_stops", "square_root_behind_a_relu"])
def test_an_infinite_slope_that_comes_to_no_leaf_is_a_note(name: str) -> None:
    told = [one.problem for one in _told(BY_NAME[name])]
    assert [(one.severity, one.kind) for one in told] == [("info", "backward_not_finite")]


def test_a_gradient_that_an_infinity_spoils_is_told_by_the_infinity_alone() -> None:
    told = [one.problem for one in _told(BY_NAME["log_of_nothing_spoils_the_gradient"])]
    assert [(one.severity, one.kind) for one in told if one.severity != "info"] == [("error", "not_finite")]
    assert told[0].title.startswith("−inf is born in loss in turn 2")


@pytest.mark.parametrize("name", ["net_made_anew_in_the_loop", "own_class_made_anew_in_the_loop"])
def test_a_model_that_is_made_anew_is_one_alarm(name: str) -> None:
    assert len(alarms(_told(BY_NAME[name]))) == 1


@pytest.mark.parametrize("name", ["bias_left_out_of_the_optimizer", "new_head_after_optimizer"])
def test_beside_a_layer_that_is_left_out_no_sum_of_its_gradients_is_told(name: str) -> None:
    kinds = {one.problem.kind for one in _told(BY_NAME[name])}
    assert "left_out" in kinds and "accumulates" not in kinds


def test_a_failure_begins_with_what_cut_the_gradient_off() -> None:
    cause, failure, *_ = (one.problem for one in _told(BY_NAME["detached_before_the_update_by_hand"]))
    assert (cause.kind, failure.kind) == ("no_gradient", "failure")
    assert failure.title == f"{cause.title}."
    assert failure.explanation.startswith("One of the two is None.")


ADVICE = {
    "view_for_transpose": "To exchange dimensions write x.transpose(0, 1).",
    "reshape_of_channels": "To exchange dimensions write x.permute(1, 2, 0).",
    "dead_relu": "A smaller learning rate, a bias near 0, or leaky_relu keeps it alive.",
    "rounding_has_no_slope": "send the gradient past it: x + (f(x) - x).detach()",
    "inputs_of_1e5_into_tanh": "Bring the inputs to mean 0 and deviation 1",
    "unnormalised_features_overflow": "Bring them to mean 0 and deviation 1 ((area - area.mean(0)) / area.std(0))",
    "zeroed_every_other_step": "4 of 10 steps went by gradients that an earlier step had used",
    "no_zero_grad_by_hand": "Put w.grad = None before this backward.",
    "detached_encoder_to_be_trained": "opt steps with it in vain.",
    "softmax_over_the_batch": "Write dim=1 (or -1) where each row holds the scores of one example.",
    "trained_in_eval_mode": "Call model.train() where an epoch of training begins.",
    "layer_made_anew_each_turn": "Make it once, before the loop",
}


@pytest.mark.parametrize(("name", "words"), ADVICE.items(), ids=ADVICE)
def test_the_explanation_says_what_to_do(name: str, words: str) -> None:
    assert words in _told(BY_NAME[name])[0].problem.explanation


REPAIRS = {
    "softmax_over_the_batch": ("Set dim to -1", "p = F.log_softmax(fc(x), dim=-1)"),
    "nll_of_scores_of_a_class": ("Put log_softmax in front", "loss = criterion(F.log_softmax(net(x), dim=1), t)"),
    "nll_of_probabilities": ("Take the logarithm", "loss = nn.NLLLoss()(model(x).log(), t)"),
    "log_softmax_before_cross_entropy_is_twice": ("Give it the scores", "loss = F.cross_entropy(matmul_1, t)"),
    "column_against_vector": ("Give y the other's shape", "loss = F.mse_loss(pred, y.reshape(20, 1))"),
    "accuracy_of_column_and_vector": ("Give t the other's", "hits = (p > 0.5).float() == t.reshape(10, 1)"),
    "item_in_the_loss": ("Take item and torch.tensor away", "loss = l"),
    "integer_division_of_pixels": ("Divide by /", "x = images / 256"),
    "integer_division_of_a_loss": ("Divide by /", "loss = err.sum() / 5"),
    "log_of_zero": ("Keep x above 0", "y = torch.log(x.clamp(min=1e-08))"),
    "distance_of_equal_points": ("Keep sum above 0", "dist = ((a - b) ** 2).sum().clamp(min=1e-08).sqrt()"),
    "learning_rate_zero": ("Set lr to 0.01", "opt = optim.SGD(model.parameters(), lr=0.01)"),
    "no_zero_grad": ("Zero the gradients before", "opt.zero_grad()"),
    "no_zero_grad_by_hand": ("Zero the gradient before", "w.grad = None"),
    "detached_encoder_to_be_trained": ("Take detach away", "call_1 = encoder(x)"),
    "loss_summed_as_tensor": ("Detach loss", "total += loss.detach()"),
    "losses_in_a_sum": ("Detach loss", "running = running + loss.detach()"),
    "zero_grad_before_step": ("Zero the gradients behind", "opt.step()"),
    "step_first_in_the_turn": ("Move step behind the backward", "opt.step()"),
    "step_before_backward_in_a_function": ("Move step behind the backward", "loss.backward()"),
    "train_function_without_zero": ("Zero the gradients before", "opt.zero_grad()"),
    "step_behind_the_loop": ("Move step behind the backward, into its loop", "opt.step()"),
    "clip_behind_the_step": ("Move clip_grad_norm_ behind", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
    "kl_of_probabilities": (
        "Take the logarithm of softmax",
        'loss = F.kl_div(F.softmax(student(x), dim=1).log(), target, reduction="batchmean")',
    ),
    "trained_in_eval_mode": ("Switch the mode", "model.train()"),
    "eval_forgotten": ("Switch the mode", "model.eval()"),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_a_way_out_is_a_change_of_one_statement(name: str) -> None:
    title, line = REPAIRS[name]
    graph, fixes = _graph_and_fixes(BY_NAME[name])
    fix = next(fix for fix in fixes if fix.title.startswith(title))
    assert line in _new_lines(graph, fix)


@pytest.mark.parametrize("name", ["dead_relu", "unused_layer", "acos_of_parallel", "losses_as_numbers_in_a_new_leaf"])
def test_where_no_edit_would_surely_help_none_is_offered(name: str) -> None:
    assert _graph_and_fixes(BY_NAME[name])[1] == []


def test_a_detach_that_one_of_two_losses_needs_is_not_taken_away() -> None:
    assert not [fix for fix in _graph_and_fixes(BY_NAME["fakes_detached_for_both_losses"])[1] if "detach" in fix.title]


def test_notes_of_right_programs_are_no_alarms() -> None:
    notes = {one.problem.kind for program in RIGHT for one in _told(program)}
    assert notes
    assert not [note for note in notes if re.search("diverges|no_zero_grad|idle_step|left_out|kept_graph", note)]


def test_an_update_that_climbs_slowly_is_a_note_for_somebody_may_want_it() -> None:
    (ascent,) = [one for one in RIGHT if one.name == "ascent_on_purpose"]
    first = _told(ascent)[0]
    assert (first.address, first.problem.severity) == ("iadd_1", "info")
    assert first.problem.title == "The update of w adds the gradient: energy rises in every step"


def test_no_sentence_calls_a_value_by_a_sign_alone() -> None:
    sentences = [f"{one.problem.title} {one.problem.explanation}" for program in PLANTED for one in _told(program)]
    fixes = [fix.title for program in PLANTED for fix in _graph_and_fixes(program)[1]]
    assert not [text for text in (*sentences, *fixes) if re.search(r"(?:in: |, |Keep )[-+*/@%]+ (?:is|above) ", text)]
