"""Text of a script that keeps checkpoints by name, writes its metrics, and ends when it is asked to.

The format of a checkpoint is that of `engine/turns/checkpoints/checkpoint_file`, so that the window goes on from one
of a script, and a script from one of the window. Lines end in ``#? a b`` as in `script_templates`. Features:
`alone` there is one process, `gradients` the next turn may read those of this one, `patient` it may end early.
"""

CHECKPOINT = '''\
def save_checkpoint(
    path: Path, turns: int, seed: int, parts: dict[str, object]
) -> None:
    """Save what the next <turn> needs; an older checkpoint stays whole until then."""
    tensors = {"random": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    objects = {}
    for name, part in parts.items():
        if isinstance(part, optim.Optimizer):
            state = part.state_dict()
            for number, values in state["state"].items():
                place = f"optimizer.{name}.{number}"
                kept = {key: one for key, one in values.items() if one is not None}
                tensors |= {f"{place}.{key}": one for key, one in kept.items()}
            objects[name] = state["param_groups"]
        elif isinstance(part, nn.Module):
            for key, value in part.state_dict().items():
                tensors[f"state.{name}.{key}"] = value
        elif isinstance(part, torch.Tensor):
            tensors[f"state.{name}"] = part
        else:
            objects[name] = part.state_dict()
    for name, leaf in leaves(parts).items():  #? gradients
        if leaf.grad is not None:  #? gradients
            tensors[f"gradient.{name}"] = leaf.grad  #? gradients
    for name, value in tensors.items():
        value = value.detach().cpu()
        tensors[name] = value.clone(memory_format=torch.contiguous_format)
    about = {"turns": turns, "seed": seed, "objects": objects}
    measured = objects.pop("<waited>")  #? patient
    about["values"] = {name: ["plain", one] for name, one in measured.items()}  #? patient
    unfinished = path.with_name(f"{path.name}.unfinished")
    save_file(tensors, unfinished, metadata={"training": json.dumps(about)})
    os.replace(unfinished, path)


def load_checkpoint(path: Path, parts: dict[str, object]) -> int:
    """Go on from a checkpoint: how many <turn>s it has behind it."""
    about = read_about(path)
    tensors = load_file(path)
    values = about.get("values", {}).items()  #? patient
    measured = {name: one[1] for name, one in values if one[0] == "plain"}  #? patient
    about["objects"]["<waited>"] = measured  #? patient
    try:
        for name, part in parts.items():
            put_back(name, part, tensors, about["objects"])
    except (KeyError, ValueError, RuntimeError):
        refuse(f"{path} is no checkpoint of this model.")
    for name, leaf in leaves(parts).items():  #? gradients
        gradient = tensors.get(f"gradient.{name}")  #? gradients
        leaf.grad = None if gradient is None else gradient.to(leaf.device)  #? gradients
    torch.set_rng_state(tensors["random"])
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return about["turns"]


def put_back(
    name: str, part: object, tensors: dict[str, torch.Tensor], objects: dict
) -> None:
    """Make a part what it was."""
    if isinstance(part, optim.Optimizer):
        states: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in below(f"optimizer.{name}.", tensors).items():
            number, word = key.split(".", 1)
            states.setdefault(int(number), {})[word] = value
        part.load_state_dict({"state": states, "param_groups": objects[name]})
    elif isinstance(part, nn.Module):
        part.load_state_dict(below(f"state.{name}.", tensors))
    elif isinstance(part, torch.Tensor):
        part.data.copy_(tensors[f"state.{name}"])
    elif name in objects:
        state = dict(objects[name])
        if "milestones" in state:  # JSON has made texts of its numbers
            del state["milestones"]
        part.load_state_dict(state)


def leaves(parts: dict[str, object]) -> dict[str, torch.Tensor]:  #? gradients
    """Everything that has a gradient."""  #? gradients
    found = {}  #? gradients
    for name, part in parts.items():  #? gradients
        if isinstance(part, torch.Tensor):  #? gradients
            found[name] = part  #? gradients
        elif isinstance(part, nn.Module):  #? gradients
            inside = part.named_parameters(remove_duplicate=False)  #? gradients
            found |= {f"{name}.{key}": one for key, one in inside}  #? gradients
    return found  #? gradients
  #? gradients
  #? gradients
def below(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors whose names begin so, without that beginning."""
    names = [name for name in tensors if name.startswith(prefix)]
    return {name.removeprefix(prefix): tensors[name] for name in names}


def read_about(path: Path) -> dict:
    """What a checkpoint says of itself."""
    try:
        with safe_open(path, "pt") as file:
            return json.loads(file.metadata()["training"])
    except (OSError, SafetensorError, KeyError, TypeError):
        refuse(f"{path} is no checkpoint of a training.")


def seed_of(path: Path) -> int:
    """The seed that a training began with: it decides which rows are kept to measure."""
    return read_about(path)["seed"]
'''

LOG = '''\
class Log:
    """Metrics as lines of JSON, and as events that TensorBoard reads where it is installed."""

    def __init__(self, folder: Path, first: int) -> None:
        """Go on behind the <turn> of that number; lines of later ones are dropped."""
        self.lines = self.events = None
        if RANK > 0:  #? !alone
            return  #? !alone
        path = folder / "metrics.jsonl"
        kept = path.read_text().splitlines() if first and path.is_file() else []
        kept = [line for line in kept if json.loads(line)["step"] <= first]
        path.write_text("".join(f"{line}\\n" for line in kept))
        self.lines = path.open("a")
        if SummaryWriter is not None:
            self.events = SummaryWriter(folder, purge_step=first + 1)
        self.began = time.perf_counter()

    def write(self, step: int, values: dict[str, float]) -> None:
        """The metrics of one."""
        if self.lines is None:
            return
        seconds = round(time.perf_counter() - self.began, 3)
        line = {"step": step, **values, "seconds": seconds}
        self.lines.write(json.dumps(line) + "\\n")
        self.lines.flush()
        if self.events is not None:
            for name, value in values.items():
                self.events.add_scalar(name, value, step)

    def __enter__(self) -> "Log":
        """Open already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close both."""
        for one in (self.lines, self.events):
            if one is not None:
                one.close()


def spelled(values: dict[str, float]) -> str:
    """Metrics as a line."""
    return "  ".join(f"{name} {value:.6g}" for name, value in values.items())


def listen() -> list[int]:
    """The signals that arrive from now on; the second one ends at once."""
    signals: list[int] = []

    def note(number: int, _: object) -> None:
        if signals:
            sys.exit(130)
        signals.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    return signals


def is_asked_to_stop(signals: list[int], device: torch.device) -> bool:  #? !alone
    """Whether any process got a signal, so that all end together."""  #? !alone
    if PROCESSES == 1:  #? !alone
        return bool(signals)  #? !alone
    asked = torch.tensor(len(signals), device=device)  #? !alone
    dist.all_reduce(asked)  #? !alone
    return asked.item() > 0  #? !alone
  #? !alone
  #? !alone
def say(text: str) -> None:
    """Print a line, once for all processes."""  #? !alone
    """Print a line at once."""  #? alone
    if RANK == 0:  #? !alone
        print(text, flush=True)  #? !alone
    print(text, flush=True)  #? alone


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1")
    return int(text)
  #? patient
  #? patient
def not_below(text: str) -> int:  #? patient
    """A whole number from 0."""  #? patient
    return 0 if text == "0" else positive(text)  #? patient
'''

FILES = '''\
def read_options(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """All options, with those of what is read and written; checked."""
    option = parser.add_argument
    option("--seed", type=int, default=<seed>, help="of all random numbers")
    option("--checkpoint", type=Path, default=CHECKPOINT, help="where to save")
    option("--save-every", type=positive, default=<every>, help="<turn>s between saves")
    option("--resume", help="a checkpoint; auto: --checkpoint, if it is there")
    option("--log-dir", type=Path, default=LOGS, help="metrics and events")
    args = parser.parse_args()
    if args.resume == "auto":
        args.resume = args.checkpoint if args.checkpoint.is_file() else None
    if args.resume and not Path(args.resume).is_file():
        parser.error(f"there is no {args.resume} to go on from")
    if args.checkpoint.is_file() and not args.resume:
        words = "go on with --resume auto, or name another with --checkpoint"
        parser.error(f"{args.checkpoint} is there already; {words}")
    try:
        args.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        args.log_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror}")
    return args
'''
