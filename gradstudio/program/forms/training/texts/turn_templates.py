"""Text of a script that keeps a loop of the canvas as it stands: what is around its class.

Lines end in ``#? a b`` as in `script_templates`. Features: `device` it names one, `dtype` the canvas has a
default dtype, `joins` its own statements join several processes.
"""

HEAD = '''\
"""Trains what <stem> trains.

Train:         python <stem>.py
Go on:         python <stem>.py --resume auto --<turn>s <more>
"""
'''

PROCESS = """\
try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:
    SummaryWriter = None

HERE = Path(__file__).parent
CHECKPOINT = HERE / "<stem>.safetensors"
LOGS = HERE / "<stem>-log"
<device>  #? device
KEPT = (
    nn.Module,
    optim.Optimizer,
    optim.lr_scheduler.LRScheduler,
    torch.amp.GradScaler,
)
"""

MAIN = '''\
def parts_of(training: Training) -> dict[str, object]:
    """What a checkpoint keeps, under the names of the canvas."""
    return {name: one for name, one in vars(training).items() if is_kept(one)}


def is_kept(one: object) -> bool:
    """Whether something changes while it learns."""
    is_leaf = isinstance(one, torch.Tensor) and one.requires_grad
    return is_leaf or isinstance(one, KEPT)


def train(args: argparse.Namespace) -> int:
    """Train <turn> by <turn>; the exit code."""
    torch.set_default_dtype(<dtype>)  #? dtype
    seed = seed_of(args.resume) if args.resume else args.seed
    torch.manual_seed(seed)
    training = Training(args)
    parts = parts_of(training)
    stop = EarlyStop(args.patience)  #? patient
    parts["<waited>"] = stop  #? patient
    first = load_checkpoint(args.resume, parts) if args.resume else 0
    if first >= args.<turn>s:
        say(f"already at <turn> {first}; --<turn>s {args.<turn>s} asks for no more")
        return 0
    if stop.is_over():  #? patient
        say(f"ended early at <turn> {first} already; a larger --patience goes on")  #? patient
        return 0  #? patient
    if args.compile:  #? compiles
        for name, part in parts.items():  #? compiles
            if isinstance(part, nn.Module):  #? compiles
                setattr(training, name, torch.compile(part<compile_more>))  #? compiles
    for part in parts.values() if args.clip else ():  #? clips
        if isinstance(part, optim.Optimizer):  #? clips
            clip_before_steps(part, args.clip)  #? clips
    stepper = Accumulated(<optimizer>, args.accumulate)  #? accumulates
    <optimizer> = stepper  #? accumulates
    signals = listen()
    with Log(args.log_dir, first) as log:
        for <turn> in range(first, args.<turn>s):
            found = training.turn(<place>)
            values = {name: value.item() for name, value in found.items()}
            done, stops = <turn> + 1, bool(signals)
            stop.look_at(values["<judged>"])  #? patient
            if done == args.<turn>s:  #? paced !patient
            if done == args.<turn>s or stop.is_over():  #? paced patient
                stepper.finish()  #? paced
            stops = stops and not stepper.behind  #? paced
            is_last = stops or done == args.<turn>s
            is_last = is_last or stop.is_over()  #? patient
            if is_last or done % args.log_every == 0:
                log.write(done, values)
                say(f"<turn> {done}/{args.<turn>s}  " + spelled(values))
            if is_last or done % args.save_every == 0:  #? !paced
            is_due = done % args.save_every < args.accumulate  #? paced
            if is_last or (is_due and not stepper.behind):  #? paced
                save_checkpoint(args.checkpoint, done, seed, parts)
            if stops:
                say("stopped; go on with --resume auto")
                return 130
            if stop.is_over():  #? patient
                say(f"no better <judged> for {stop.waited} <turn>s: ended early")  #? patient
                break  #? patient
    return 0


def parse_arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    option = parser.add_argument
    option("--<turn>s", type=positive, default=<turns>, help="all, resumed ones included")
    words = "learning rate of a new training"  #? rate
    option("--lr", type=not_negative, default=<rate>, help=words)  #? rate
<options>
    option("--log-every", type=positive, default=1, help="<turn>s between lines")
    return read_options(parser)


def refuse_several_processes() -> None:  #? !joins
    """Each would train the whole, and write the same checkpoint."""  #? !joins
    count = os.environ.get("WORLD_SIZE", "1")  #? !joins
    if count != "1":  #? !joins
        refuse(  #? !joins
            f"This script trains in one process, and {count} were started: each would "  #? !joins
            "train the whole by itself. Start it with python, without torchrun, or "  #? !joins
            "share the training out on the canvas first (Graph, Distribute)."  #? !joins
        )  #? !joins
  #? !joins
  #? !joins
def main() -> None:
    """Train, and end with an exit code."""
    refuse_several_processes()  #? !joins
    sys.exit(train(parse_arguments()))


if __name__ == "__main__":
    main()
'''
