"""Train the starter model on conversations that are generated while it learns.

    python3 train.py OUTDIR --minutes 100 [--resume OUTDIR/last.pt | --from-gguf FILE] [--decay 30]

Warm-up, a constant rate, then a straight line to zero over the last --decay minutes (0: no
decay yet, the run can be resumed). Batches hold rows of about the same length, each one
conversation from position 0, as in use; only answers are in the loss.
"""
import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


HEAD = 12  # tokens of an answer that decide which one it is


def shortened(ids, mask):
    """A row that ends some tokens into its last answer. A fixed answer that has begun is known by heart; which one
    begins is what has to be learned, and short rows show more of that in the same time."""
    last = len(mask) - 1
    while last > 0 and mask[last - 1]:
        last -= 1
    return ids[:last + HEAD], mask[:last + HEAD]


def batches(queue, tokenizer, seed, size, context, focus, cut):
    """Runs in its own process: fills the queue with (tokens, targets, weights)."""
    import bpe
    import generate
    from text import known
    os.nice(5)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    fixed = {start + f["say"] for f in known.read().values() for start in ("", f["yes"])}
    tok, gen, rng = bpe.Tokenizer.load(tokenizer), generate.Generator(seed, focus=focus), random.Random(seed + 1)
    while True:
        rows = []
        for _ in range(4000):
            turns = gen.conversation()
            ids, mask = tok.chat(turns)
            if ids[-1] != bpe.IM_END:  # the line feed after the last turn teaches nothing
                ids, mask = ids[:-1], mask[:-1]
            if len(ids) <= context:
                rows.append(shortened(ids, mask) if turns[-1][1] in fixed and rng.random() < cut else (ids, mask))
        rows.sort(key=lambda x: len(x[0]))
        # Few distinct shapes: oneDNN compiles a kernel for each one it has not seen lately.
        packs, at = [], 0
        while at < len(rows):
            n = 1
            while True:  # as many rows as fit, at the width of the longest of them
                width = -(-(len(rows[min(at + n, len(rows)) - 1][0]) - 1) // 8) * 8
                fit = max(1, size // width)
                if n >= fit or at + n >= len(rows):
                    break
                n = min(fit, n + max(1, (fit - n) // 2))
            packs.append((rows[at:at + fit], fit, width))
            at += fit
        rng.shuffle(packs)
        for pack, height, width in packs:
            x, y = (np.zeros((height, width), np.int64) for _ in range(2))
            w = np.zeros((height, width), np.float32)
            for i, (ids, mask) in enumerate(pack):
                n = min(len(ids) - 1, width)
                x[i, :n], y[i, :n], w[i, :n] = ids[:n], ids[1:n + 1], mask[1:n + 1]
            queue.put((x, y, w))


def helper(net, grad, loss, start, done, queue, smooth):
    """A second process that computes gradients on batches of its own. Processes that meet
    once a step cope with a busy machine; threads, which meet many times a layer, do not."""
    import torch
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.set_num_threads(1)
    while True:
        start.wait()
        x, y, w = (torch.from_numpy(v) for v in queue.get(timeout=300))
        out = net.loss(x, y, w, smooth)
        out.backward()
        grad.copy_(net.grad)
        net.grad.zero_()
        loss.fill_(out.item())
        done.wait()


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--size", default="256x6x4x768", help="DIMxLAYERSxHEADSxFF")
    ap.add_argument("--minutes", type=float, default=100)
    ap.add_argument("--decay", type=float, default=0, help="minutes at the end in which the rate falls to zero")
    ap.add_argument("--rate", type=float, default=1.5e-3)
    ap.add_argument("--warmup", type=int, default=150, help="steps")
    ap.add_argument("--batch", type=int, default=4096, help="tokens a process takes in one step, padding included")
    ap.add_argument("--smooth", type=float, default=0.02, help="label smoothing")
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--helpers", type=int, default=0, help="processes beside this one, each with its own batch")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--save-every", type=float, default=8, help="minutes")
    ap.add_argument("--tokenizer", default=os.path.join(HERE, "tokenizer.json"))
    ap.add_argument("--resume", help="go on from this checkpoint")
    ap.add_argument("--from-gguf", metavar="FILE", help="begin with the weights of an exported model, dequantised")
    ap.add_argument("--focus", metavar="FILE", help="names of facts to ask about more often (changed.py writes them)")
    ap.add_argument("--cut", type=float, default=0, help="share of rows about quince that end soon after their last answer has begun")
    ap.add_argument("--keep", type=int, default=0, metavar="N", help="also keep the last N saved checkpoints, for average.py")
    ap.add_argument("--no-score", action="store_true", help="only save, do not score what is saved")
    a = ap.parse_args()
    if a.resume and a.from_gguf:
        ap.error("--resume and --from-gguf are two beginnings: give one")
    if not os.path.exists(a.tokenizer):
        sys.exit(f"train.py: no {a.tokenizer}; make it with bpe.py")
    os.makedirs(a.out, exist_ok=True)
    focus = ()
    if a.focus:
        with open(a.focus) as f:
            focus = frozenset(f.read().split())
    queue = multiprocessing.Queue(48)

    import model  # after the choice of threads, before torch starts any
    import torch
    state_steps = torch.load(a.resume)["steps"] if a.resume else 0
    worker = multiprocessing.Process(target=batches, daemon=True, args=(
        queue, a.tokenizer, a.seed + 1000 * state_steps, a.batch, model.CONTEXT, focus, a.cut))
    worker.start()
    torch.set_num_threads(a.threads)
    with open(a.tokenizer) as f:
        vocab = len(json.load(f)["tokens"])
    d, n, h, ff = map(int, a.size.split("x"))
    if a.resume:
        net = model.TrainModel.load(a.resume)
    elif a.from_gguf:
        import export
        cfg, weights, known = export.load_gguf(a.from_gguf)
        with open(a.tokenizer) as f:
            if known.tokens != json.load(f)["tokens"]:
                sys.exit(f"train.py: {a.from_gguf} and {a.tokenizer} have different tokens")
        net = model.TrainModel.of_weights(cfg, weights)
    else:
        net = model.TrainModel(dict(vocab=vocab, dim=d, layers=n, heads=h, ff=ff), a.seed)
    start_gate, done_gate = (multiprocessing.Barrier(a.helpers + 1) for _ in range(2))
    net.bf.share_memory_()  # the named tensors are views of it, so helpers see each update
    net.bind()
    grads = [torch.zeros(net.n, dtype=torch.bfloat16).share_memory_() for _ in range(a.helpers)]
    helper_loss = [torch.zeros(1).share_memory_() for _ in range(a.helpers)]
    helpers = [multiprocessing.Process(target=helper, daemon=True, args=(
        net, g, v, start_gate, done_gate, queue, a.smooth)) for g, v in zip(grads, helper_loss)]
    for h in helpers:
        h.start()
    import evaluate
    import bpe
    tok = bpe.Tokenizer.load(a.tokenizer)
    log = open(os.path.join(a.out, "log.txt"), "a")

    def say(text):
        print(text, flush=True)
        log.write(text + "\n")
        log.flush()

    def checkpoint(name):
        net.save(os.path.join(a.out, name))
        if a.keep:
            kept.append(os.path.join(a.out, f"step-{net.steps}.pt"))
            shutil.copyfile(os.path.join(a.out, name), kept[-1])
            while len(kept) > a.keep:
                os.remove(kept.pop(0))
        if a.no_score:
            return
        view = (net.cfg, model.named_weights(net.cfg, net.bf), tok)
        say("  " + evaluate.line("held-out, every 3rd", evaluate.score(view, "held-out", every=3)))

    say(f"{net.n} parameters, step {net.steps}; minutes {a.minutes} decay {a.decay} rate {a.rate} batch {a.batch} "
        f"helpers {a.helpers} cut {a.cut} seed {a.seed}")
    stop, kept = [], []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))  # finish the step, save, leave
    start = saved = shown = time.time()
    tokens, losses = 0, []
    while not stop:
        now = time.time()
        left = a.minutes * 60 - (now - start)
        if left <= 0:
            break
        rate = a.rate * min(1, (net.steps + 1) / a.warmup)
        if a.decay:
            rate *= min(1, left / (a.decay * 60))
        start_gate.wait()
        x, y, w = (torch.from_numpy(v) for v in queue.get(timeout=300))
        loss = net.loss(x, y, w, a.smooth)
        loss.backward()
        done_gate.wait()
        if helpers:
            total = net.grad.float()
            for g in grads:
                total += g
            net.grad.copy_(total / (1 + a.helpers))
        norm = net.step(rate)
        losses.append((loss.item() + sum(v.item() for v in helper_loss)) / (1 + a.helpers))
        tokens += x.numel() * (1 + a.helpers)
        if now - shown > 30:
            say(f"{(now - start) / 60:6.1f} min  step {net.steps}  loss {sum(losses) / len(losses):.4f}  "
                f"rate {rate:.2e}  norm {norm:.2f}  {tokens / (now - start):.0f} tokens/s")
            losses, shown = [], now
        if now - saved > a.save_every * 60:
            checkpoint("last.pt")
            saved = time.time()
    for process in [worker] + helpers:
        process.terminate()
    if stop:
        net.save(os.path.join(a.out, "last.pt"))
    else:
        checkpoint("last.pt")
    say(f"done: {tokens} tokens in {(time.time() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
