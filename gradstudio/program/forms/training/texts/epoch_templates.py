"""Text of a script that trains in epochs: what stands around its model, its data, its loss and its measures.

Lines end in ``#? a b`` as in `script_templates`. Features: `device`, `dtype`, `schedule`, `by_epoch` and `unused` as
there; `steps` a schedule goes on in each step, `trains` the model is switched to training before an epoch, `evaluates`
to evaluation before it is measured, `measured` an epoch measures something, `adds_up` as sums
over the rows of a batch, `loss_apart` the loss is a function of its own, `patient` the canvas ends early,
`compiled` it compiles its model.
"""

HEAD = '''\
"""Trains the model of <stem>.

One process:   python <stem>.py
Several:       torchrun --nproc-per-node 2 <stem>.py
Go on:         python <stem>.py --resume auto --epochs <more>
"""
'''

PROCESS = """\
try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:
    SummaryWriter = None

RANK = int(os.environ.get("RANK", "0"))
LOCAL_RANK = int(os.environ.get("LOCAL_RANK", "0"))
PROCESSES = int(os.environ.get("WORLD_SIZE", "1"))
HERE = Path(__file__).parent
CHECKPOINT = HERE / "<stem>.safetensors"
LOGS = HERE / "<stem>-log"
"""

DATA = '''\
def share_out(loader: DataLoader, learns: bool) -> DataLoader:
    """The batches of this process: a share of each to learn from, of the rows to measure."""
    if PROCESSES == 1:
        return loader
    data, size = loader.dataset, max(1, (loader.batch_size or 1) // PROCESSES)
    sampler = None
    if learns:
        shuffles = isinstance(loader.sampler, RandomSampler)
        sampler = DistributedSampler(data, shuffle=shuffles, drop_last=loader.drop_last)
    else:
        data = Subset(data, range(RANK, len(data), PROCESSES))
    return DataLoader(
        data,
        batch_size=size,
        sampler=sampler,
        num_workers=loader.num_workers,
        collate_fn=loader.collate_fn,
        pin_memory=loader.pin_memory,
        drop_last=loader.drop_last and learns,
    )


def to_device(batch: tuple, device: torch.device) -> tuple:
    """The tensors of a batch on the device."""
    is_pinned = device.type == "cuda"
    return tuple(
        one.to(device, non_blocking=is_pinned) if isinstance(one, torch.Tensor) else one
        for one in batch
    )
'''

EPOCH = '''\
def train_epoch(run: Run, loader: DataLoader, device: torch.device) -> torch.Tensor:
    """Learn from all batches once; the mean loss."""
    run.model.train()  #? trains
    args, total, rows = run.args, torch.zeros((), device=device), 0
    for number, batch in enumerate(loader, 1):
        batch = to_device(batch, device)
        with torch.autocast(device.type, enabled=args.amp):
            loss = run.parallel(<inputs>)  #? !loss_apart
            prediction = run.parallel(<inputs>)  #? loss_apart
            loss = compute_loss(<arguments>)  #? loss_apart
        if (number - 1) % args.accumulate == 0:
            run.optimizer.zero_grad()
        run.scaler.scale(loss / args.accumulate).backward()
        if number % args.accumulate == 0 or number == len(loader):
            if args.clip:
                run.scaler.unscale_(run.optimizer)
                nn.utils.clip_grad_norm_(run.model.parameters(), args.clip)
            run.scaler.step(run.optimizer)
            run.scaler.update()
            run.scheduler.step()  #? steps
        count = len(batch[0])
        total, rows = total + loss.detach() * count, rows + count
    return average(total, rows)


def evaluate(  #? measured
    model: nn.Module, loader: DataLoader, device: torch.device  #? measured
) -> dict[str, float]:  #? measured
    """The means, over all rows, of what is measured."""  #? measured
    model.eval()  #? evaluates
    totals: dict[str, torch.Tensor] = {}  #? measured
    rows = 0  #? measured
    with torch.no_grad():  #? measured
        for batch in loader:  #? measured
            batch = to_device(batch, device)  #? measured
            count = len(batch[0])  #? measured
            rows += count  #? measured
            for name, value in measure(model, batch).items():  #? measured
                totals[name] = totals.get(name, 0) + value  #? measured adds_up
                totals[name] = totals.get(name, 0) + value * count  #? measured !adds_up
    return {name: average(total, rows).item() for name, total in totals.items()}  #? measured
  #? measured
  #? measured
def average(total: torch.Tensor, rows: int) -> torch.Tensor:
    """A mean over the rows of all processes."""
    if PROCESSES == 1:
        return total / rows
    both = torch.stack((total.float(), total.new_tensor(rows, dtype=torch.float)))
    dist.all_reduce(both)
    return both[0] / both[1]
'''

TRAIN = '''\
class Run(NamedTuple):
    """All that learns, and how."""

    args: argparse.Namespace
    model: <title>
    parallel: nn.Module
    optimizer: optim.Optimizer
    scaler: torch.amp.GradScaler
    scheduler: optim.lr_scheduler.LRScheduler  #? schedule
    stop: EarlyStop  #? patient

    def parts(self) -> dict[str, object]:
        """What a checkpoint keeps, under the names of the canvas."""
        return {
            **dict(self.model.named_children()),
            **dict(self.model.named_parameters(recurse=False)),
            "<optimizer>": self.optimizer,
            "<scheduler>": self.scheduler,  #? schedule
            "<waited>": self.stop,  #? patient
            **({"scaler": self.scaler} if self.args.amp else {}),
        }
'''

MAIN = '''\
def make_run(args: argparse.Namespace, model: nn.Module, device: torch.device) -> Run:
    """The model on its device, shared by all processes, with its optimizer."""
    model = model.to(device)
    parallel = torch.compile(model<compile_more>) if args.compile else model
    if PROCESSES > 1:
        parallel = DistributedDataParallel(parallel)  #? !unused
        parallel = DistributedDataParallel(parallel, find_unused_parameters=True)  #? unused
    optimizer = make_optimizer(model, args.lr)  #? rate
    optimizer = make_optimizer(model)  #? !rate
    scales = args.amp and device.type == "cuda"
    scaler = torch.amp.GradScaler(device.type, enabled=scales)
    scheduler = make_scheduler(optimizer)  #? schedule
    stop = EarlyStop(args.patience)  #? patient
    return Run(args, model, parallel, optimizer, scaler, scheduler, stop)  #? schedule patient
    return Run(args, model, parallel, optimizer, scaler, stop)  #? !schedule patient
    return Run(args, model, parallel, optimizer, scaler, scheduler)  #? schedule !patient
    return Run(args, model, parallel, optimizer, scaler)  #? !schedule !patient


def train(args: argparse.Namespace, device: torch.device) -> int:
    """Train epoch by epoch; the exit code."""
    torch.set_default_dtype(<dtype>)  #? dtype
    seed = seed_of(args.resume) if args.resume else args.seed
    torch.manual_seed(seed)
    model, (<loaders>) = set_up(device)  #? device
    model, (<loaders>) = set_up()  #? !device
    run = make_run(args, model, device)
    loader = share_out(<loader>, learns=True)
    test_loader = share_out(<test_loader>, learns=False)  #? measured
    first = load_checkpoint(args.resume, run.parts()) if args.resume else 0
    if first >= args.epochs:
        say(f"already at epoch {first}; --epochs {args.epochs} asks for no more")
        return 0
    if run.stop.is_over():  #? patient
        say(f"ended early at epoch {first} already; a larger --patience goes on")  #? patient
        return 0  #? patient
    if RANK > 0:
        torch.manual_seed(seed + RANK + PROCESSES * first)
    signals = listen()
    with Log(args.log_dir, first) as log:
        for epoch in range(first, args.epochs):
            if PROCESSES > 1:
                loader.sampler.set_epoch(epoch)
            values = {"loss": train_epoch(run, loader, device).item()}
            if not math.isfinite(values["loss"]):
                say(f"epoch {epoch + 1}: the loss is {values['loss']}.")
                return 1
            done, stops = epoch + 1, is_asked_to_stop(signals, device)
            is_last = stops or done == args.epochs
            if is_last or done % args.eval_every == 0:  #? measured
                values |= evaluate(run.model, test_loader, device)  #? measured
            if "<judged>" in values:  #? patient
                run.stop.look_at(values["<judged>"])  #? patient
            is_last = is_last or run.stop.is_over()  #? patient
            run.scheduler.step()  #? by_epoch
            values["lr"] = run.optimizer.param_groups[0]["lr"]
            log.write(done, values)
            say(f"epoch {done}/{args.epochs}  " + spelled(values))
            if RANK == 0 and (is_last or done % args.save_every == 0):
                save_checkpoint(args.checkpoint, done, seed, run.parts())
            if stops:
                say("stopped; go on with --resume auto")
                return 130
            if run.stop.is_over():  #? patient
                say(f"no better <judged> for {run.stop.waited} epochs: ended early")  #? patient
                break  #? patient
    return 0


def parse_arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    option = parser.add_argument
    option("--epochs", type=positive, default=<epochs>, help="all, resumed ones included")
    option("--lr", type=float, default=<rate>, help="learning rate of a new training")  #? rate
    option("--amp", action="store_true", help="autocast, and on CUDA scaled gradients")
    option("--accumulate", type=positive, default=1, help="batches of a step")
    option("--clip", type=float, default=<clip>, help="largest norm of gradients")
    option("--compile", action="store_true", help="compile the model")  #? !compiled
    yes_or_no = argparse.BooleanOptionalAction  #? compiled
    option("--compile", action=yes_or_no, default=True, help="compile the model")  #? compiled
    words = "measures without a better <judged> that end it; 0: never"  #? patient
    option("--patience", type=not_below, default=<patience>, help=words)  #? patient
    option("--eval-every", type=positive, default=1, help="epochs between measures")  #? measured
    option("--device", default="auto", help="auto, cpu, cuda, mps, xpu, cuda:1, ...")
    return read_options(parser)
'''
