"""Text: what every training script says around its model, its data and its step.

A line that ends in ``#? a b`` is there only where all of these features are, ``!a`` where one is not. Features:
`rows` the data is a batch, `own` the canvas has an optimizer, `choice` the command line names one, `optimizer`
either of the two, `rate` there is a learning rate to set, `clears` each step sets the gradients back, `draws` the
step takes random numbers, `dtype` the canvas has a default dtype, `unused` a parameter may get no gradient,
`schedule` the canvas has a learning-rate schedule, `by_epoch` which goes on after each epoch, `milestones` and
`cycle` it is such a one.
"""

import re
from collections.abc import Mapping, Set

_CONDITION = re.compile(r"\s*#\? (.*)$")

HEAD = '''\
"""Trains the model of <stem>.

One process:   python <stem>.py
Several:       torchrun --nproc-per-node 2 <stem>.py
"""
'''

PROCESS = """\
try:
    from tqdm import tqdm
except ImportError:
    tqdm = None

RANK = int(os.environ.get("RANK", "0"))
LOCAL_RANK = int(os.environ.get("LOCAL_RANK", "0"))
PROCESSES = int(os.environ.get("WORLD_SIZE", "1"))
CHECKPOINT = "<stem>.safetensors"
OPTIMIZERS = {"sgd": optim.SGD, "adam": optim.Adam, "adamw": optim.AdamW}  #? choice
"""

BATCH = '''\
def take_batch(
    data: tuple[torch.Tensor, ...], step: int, size: int | None, seed: int
) -> tuple[torch.Tensor, ...]:
    """The rows of a step, shuffled anew in each epoch; each process takes its share."""
    rows = len(data[0])
    size = min(size or rows, rows)
    if size < rows:
        epoch, turn = divmod(step, rows // size)
        shuffle = torch.Generator().manual_seed(seed + epoch)
        order = torch.randperm(rows, generator=shuffle)
        chosen = order[turn * size : (turn + 1) * size].to(data[0].device)
        data = tuple(part[chosen] for part in data)
    if size % PROCESSES == 0:
        data = tuple(part.chunk(PROCESSES)[RANK] for part in data)
    return data
'''

SAVE = '''\
def save_checkpoint(  #? optimizer
    path: Path, step: int, model: nn.Module, optimizer: optim.Optimizer  #? optimizer !schedule
    path: Path,  #? schedule
    step: int,  #? schedule
    model: nn.Module,  #? schedule
    optimizer: optim.Optimizer,  #? schedule
    scheduler: optim.lr_scheduler.LRScheduler,  #? schedule
) -> None:  #? optimizer
def save_checkpoint(path: Path, step: int, model: nn.Module) -> None:  #? !optimizer
    """Save all that the next step needs; an older checkpoint stays whole until then."""
    tensors = {"step": torch.tensor(step), "random": torch.get_rng_state()}
    if torch.cuda.is_available():  #? draws
        tensors["random.cuda"] = torch.cuda.get_rng_state()  #? draws
    for name, value in model.state_dict().items():
        tensors[f"model.{name}"] = value
    for name, parameter in model.named_parameters():  #? !clears
        if parameter.grad is not None:  #? !clears
            tensors[f"gradient.{name}"] = parameter.grad  #? !clears
    for number, state in optimizer.state_dict()["state"].items():  #? optimizer
        for name, value in state.items():  #? optimizer
            if value is not None:  #? optimizer
                tensors[f"optimizer.{number}.{name}"] = value  #? optimizer
    for name, value in tensors.items():
        value = value.detach().cpu()
        tensors[name] = value.clone(memory_format=torch.contiguous_format)
    unfinished = path.with_name(f"{path.name}.unfinished")
    groups = optimizer.state_dict()["param_groups"]  #? schedule
    rates = json.dumps([groups, scheduler.state_dict()])  #? schedule
    save_file(tensors, unfinished, metadata={"rates": rates})  #? schedule
    save_file(tensors, unfinished)  #? !schedule
    os.replace(unfinished, path)


def load_checkpoint(path: Path, model: nn.Module, optimizer: optim.Optimizer) -> int:  #? optimizer !schedule
def load_checkpoint(  #? schedule
    path: Path,  #? schedule
    model: nn.Module,  #? schedule
    optimizer: optim.Optimizer,  #? schedule
    scheduler: optim.lr_scheduler.LRScheduler,  #? schedule
) -> int:  #? schedule
def load_checkpoint(path: Path, model: nn.Module) -> int:  #? !optimizer
    """Go on from a checkpoint: how many steps it has behind it."""
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError):
        tensors = {}
    sizes = {name: value.shape for name, value in below("model.", tensors).items()}
    wanted = {name: value.shape for name, value in model.state_dict().items()}
    if sizes != wanted or not {"step", "random"} <= tensors.keys():
        refuse(f"{path} is no checkpoint of this model.")
    model.load_state_dict(below("model.", tensors))
    for name, gradient in below("gradient.", tensors).items():  #? !clears
        parameter = model.get_parameter(name)  #? !clears
        parameter.grad = gradient.to(parameter.device)  #? !clears
    states = {}  #? optimizer
    for key, value in below("optimizer.", tensors).items():  #? optimizer
        number, name = key.split(".", 1)  #? optimizer
        states.setdefault(int(number), {})[name] = value  #? optimizer
    groups = optimizer.state_dict()["param_groups"]  #? optimizer !schedule
    with safe_open(path, "pt") as file:  #? schedule
        groups, rates = json.loads(file.metadata()["rates"])  #? schedule
    del rates["milestones"]  # JSON has made texts of its numbers  #? schedule milestones
    scheduler.load_state_dict(rates)  #? schedule
    optimizer.load_state_dict({"state": states, "param_groups": groups})  #? optimizer
    torch.set_rng_state(tensors["random"])
    if torch.cuda.is_available() and "random.cuda" in tensors:  #? draws
        torch.cuda.set_rng_state(tensors["random.cuda"])  #? draws
    return int(tensors["step"])


def below(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors whose names begin so, without that beginning."""
    names = [name for name in tensors if name.startswith(prefix)]
    return {name.removeprefix(prefix): tensors[name] for name in names}
'''

DEVICE = '''\
def choose_device(name: str) -> torch.device:
    """The device of this process: each has a GPU of its own."""
    if name == "auto":
        found = torch.accelerator.current_accelerator(check_available=True)
        name = found.type if found is not None else "cpu"
    if name in ("cuda", "xpu"):
        name = f"{name}:{LOCAL_RANK}"
    try:
        torch.zeros(1, device=name).item()
    except (RuntimeError, AssertionError, NotImplementedError):
        refuse(f"There is no device '{name}' here.")
    return torch.device(name)
'''

REFUSE = '''\
def refuse(text: str) -> NoReturn:
    """End, and say in one line what is wrong."""
    print(text, file=sys.stderr)
    sys.exit(2)
'''

TALK = '''\
def average(value: torch.Tensor) -> float:
    """The mean of what all processes have."""
    if PROCESSES > 1:
        dist.all_reduce(value)
        value /= PROCESSES
    return value.item()


def is_asked_to_stop(signals: list[int], device: torch.device) -> bool:
    """Whether any process got a signal, so that all end after the same step."""
    if PROCESSES == 1:
        return bool(signals)
    asked = torch.tensor(len(signals), device=device)
    dist.all_reduce(asked)
    return asked.item() > 0


def show_progress(steps: range) -> Iterable[int]:
    """The steps, with a bar where tqdm is installed."""
    if tqdm is None or RANK > 0:
        return steps
    return tqdm(steps, initial=steps.start, total=steps.stop)


def say(text: str) -> None:
    """Print a line, once for all processes."""
    if RANK == 0:
        print(text, flush=True) if tqdm is None else tqdm.write(text)
'''

TRAIN = '''\
def train(args: argparse.Namespace, device: torch.device) -> int:
    """Train step by step; the exit code."""
    torch.set_default_dtype(<dtype>)  #? dtype
    torch.manual_seed(args.seed)
    model, data = set_up()  #? !device
    model, data = set_up(device)  #? device
    model, data = model.to(device), tuple(part.to(device) for part in data)
    optimizer = make_optimizer(model, args.lr)  #? own rate
    optimizer = make_optimizer(model)  #? own !rate
    optimizer = OPTIMIZERS[args.optimizer](model.parameters(), lr=args.lr)  #? choice
    first = load_checkpoint(args.checkpoint, model, optimizer) if args.resume else 0  #? optimizer !schedule
    scheduler = make_scheduler(optimizer)  #? schedule
    kept = (model, optimizer, scheduler)  #? schedule
    if args.steps > scheduler.total_steps:  #? cycle !by_epoch
    if args.steps > scheduler.total_steps * <inner>:  #? cycle by_epoch
        say(f"The schedule ends after {scheduler.total_steps} steps.")  #? cycle !by_epoch
        say(f"The schedule ends after {scheduler.total_steps} epochs.")  #? cycle by_epoch
        return 2  #? cycle
    first = load_checkpoint(args.checkpoint, *kept) if args.resume else 0  #? schedule
    first = load_checkpoint(args.checkpoint, model) if args.resume else 0  #? !optimizer
    if first >= args.steps:
        say(f"already at step {first}; --steps {args.steps} asks for no more")
        return 0
    if PROCESSES > 1:  #? !rows
        say("Each process computes with all the data.")  #? !rows
    if RANK > 0:  # drop out other values than the first process  #? draws
        torch.manual_seed(args.seed + RANK + PROCESSES * first)  #? draws
    if args.amp:
        mixed = torch.autocast(device.type, torch.bfloat16)
        model.forward = mixed(model.forward)
    if args.compile:
        model.compile()
    if args.clip:  #? clips
        clip_before_steps(optimizer, args.clip)  #? clips
    stepper = Accumulated(optimizer, args.accumulate)  #? accumulates
    parallel = model
    if PROCESSES > 1:
        parallel = DistributedDataParallel(model)  #? !unused
        parallel = DistributedDataParallel(model, find_unused_parameters=True)  #? unused
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: signals.append(number))
    for step in show_progress(range(first, args.steps)):
        batch = take_batch(data, step, args.batch_size, args.seed)  #? rows
        loss = train_step(<arguments>)
        if (step + 1) % <inner> == 0:  #? by_epoch
            scheduler.step()  #? by_epoch
        done, stops = step + 1, is_asked_to_stop(signals, device)
        logs = step == first or done % args.log_every == 0 or done == args.steps
        saves = stops or done % args.save_every == 0 or done == args.steps  #? !accumulates
        if done == args.steps:  #? accumulates
            stepper.finish()  #? accumulates
        stops = stops and not stepper.behind  #? accumulates
        is_due = done % args.save_every < args.accumulate and not stepper.behind  #? accumulates
        saves = stops or is_due or done == args.steps  #? accumulates
        if logs or saves:
            value = average(loss)
            if not math.isfinite(value):
                say(f"step {done}: the loss is {value}. Try a smaller --lr.")  #? rate
                say(f"step {done}: the loss is {value}.")  #? !rate
                return 1
        if logs:
            say(f"step {done}/{args.steps}  loss {value}")
        if saves and RANK == 0:
            save_checkpoint(args.checkpoint, done, *kept)  #? schedule
            save_checkpoint(args.checkpoint, done, model, optimizer)  #? optimizer !schedule
            save_checkpoint(args.checkpoint, done, model)  #? !optimizer
        if stops:
            say(f"stopped; go on with --resume --checkpoint {args.checkpoint}")
            return 130
    return 0
'''

MAIN = '''\
def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1")
    return int(text)


def learning_rate(text: str) -> float:  #? rate
    """A number that is not below 0."""  #? rate
    try:  #? rate
        number = float(text)  #? rate
    except ValueError:  #? rate
        number = math.nan  #? rate
    if not 0 <= number < math.inf:  #? rate
        raise argparse.ArgumentTypeError(f"{text} is no learning rate")  #? rate
    return number  #? rate
  #? rate
  #? rate
def parse_arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="Several processes each compute with all the data.",  #? !rows
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    option = parser.add_argument
    option("--steps", type=positive, default=<steps>, help="all, resumed ones included")
    option("--optimizer", choices=OPTIMIZERS, default="adam", help="how it learns")  #? choice
    option("--lr", type=learning_rate, default=<rate>, help="learning rate")  #? rate
    option("--batch-size", type=positive, help="rows of a step; None is all")  #? rows
<options>
    option("--device", default="auto", help="auto, cpu, cuda, mps, xpu, cuda:1, ...")
    option("--seed", type=int, default=<seed>, help="of all random numbers")
    option("--checkpoint", type=Path, default=CHECKPOINT, help="where to save")
    words = "go on from the checkpoint; auto: if it is there"
    option("--resume", nargs="?", const="yes", choices=["yes", "auto"], help=words)
    option("--save-every", type=positive, default=100, help="steps between saves")
    option("--log-every", type=positive, default=10, help="steps between lines")
    args = parser.parse_args()
    if args.resume == "auto" and not args.checkpoint.is_file():
        args.resume = None
    if args.resume and not args.checkpoint.is_file():
        parser.error(f"there is no {args.checkpoint} to go on from")
    folder = args.checkpoint.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--checkpoint {args.checkpoint}: {error.strerror}")
    if args.checkpoint.is_dir() or not os.access(folder, os.W_OK):
        parser.error(f"--checkpoint {args.checkpoint} cannot be written")
    return args
'''

START = '''\
def main() -> None:
    """Train in this process, or as one of those that torchrun has started."""
    args = parse_arguments()
    device = choose_device(args.device)
    if PROCESSES > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        sys.exit(train(args, device))
    finally:
        if PROCESSES > 1:
            dist.destroy_process_group()


if __name__ == "__main__":
    main()
'''


def select_lines(text: str, features: Set[str], values: Mapping[str, str]) -> list[str]:
    """The lines of a text that go with the features, each ``<name>`` replaced."""
    kept = (_kept(line, features) for line in text.splitlines())
    return [re.sub(r"<(\w+)>", lambda found: values[found[1]], line) for line in kept if line is not None]


def _kept(line: str, features: Set[str]) -> str | None:
    found = _CONDITION.search(line)
    if found is None:
        return line
    for word in found[1].split():
        if (word.removeprefix("!") in features) == word.startswith("!"):
            return None
    return line[: found.start()]
