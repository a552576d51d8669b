"""Does train_gpu.py compute what train.py does? One batch, one step, on the weights of a model:

    python3 check_gpu.py MODEL.gguf [--device cuda]

Prints the loss of both, and how far their gradients are from one computed in single precision, which shows what the rounding
of bf16 does; then how far two steps on equal gradients are apart. Needs gcc for train.py's network.
"""
import argparse
import multiprocessing
import os

import torch

import export
import model
import train
import train_gpu

HERE = os.path.dirname(os.path.abspath(__file__))


def apart(a, b):
    """How far b is from a, in relation to a."""
    a, b = a.float().cpu(), b.float().cpu()
    return ((a - b).norm() / a.norm()).item()


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("model")
    ap.add_argument("--device", default="cpu")
    ap.add_argument("--batch", type=int, default=2048)
    a = ap.parse_args()
    queue = multiprocessing.Queue(2)
    worker = multiprocessing.Process(target=train.batches, daemon=True, args=(
        queue, os.path.join(HERE, "tokenizer.json"), 5, a.batch, model.CONTEXT, (), 0.6))
    worker.start()
    x, y, w = queue.get(timeout=300)
    worker.terminate()
    cfg, weights, _ = export.load_gguf(a.model)
    device, rate, smooth = torch.device(a.device), 1e-3, 0.02
    cpu = model.TrainModel.of_weights(cfg, weights)
    gpu, exact = (train_gpu.GpuModel.of_weights(cfg, weights).to(device) for _ in range(2))
    loss = cpu.loss(*map(torch.from_numpy, (x, y, w)), smooth)
    loss.backward()
    batch = train_gpu.to_device(x, y, w, device)
    soft, plain = gpu.loss(*batch, smooth)
    soft.backward()
    train_gpu.BF16 = torch.float32
    exact.bf, exact.grad = exact.master.clone(), torch.zeros_like(exact.master)
    exact.bind()
    soft, true = exact.loss(*batch, smooth)
    soft.backward()
    train_gpu.BF16 = torch.bfloat16
    print(f"batch of {x.shape[0]} rows of {x.shape[1]}; loss of train.py {loss.item():.6f}, train_gpu.py {plain.item():.6f}, "
          f"in single precision {true.item():.6f}")
    for name, net in (("train.py", cpu), ("train_gpu.py", gpu)):
        worst = max((apart(exact.p[k].grad, net.p[k].grad), k) for k in net.p)
        print(f"gradient of {name} and in single precision: {apart(exact.grad, net.grad):.5f} apart, a tensor at most "
              f"{worst[0]:.5f} ({worst[1]})")
    old, grad = cpu.master.clone(), cpu.grad.clone()
    for _ in range(2):
        for net in (cpu, gpu):
            net.grad.copy_(grad)
            net.step(rate)
    adam = gpu.adam.cpu()
    matrices = torch.ones(cpu.n, dtype=torch.bool)
    matrices[adam] = False
    moved, moved_gpu = cpu.master - old, gpu.master.cpu() - old
    print(f"two steps apart: AdamW {apart(moved[adam], moved_gpu[adam]):.5f}, "
          f"Muon {apart(moved[matrices], moved_gpu[matrices]):.5f}; moments {apart(cpu.m, gpu.m):.5f} {apart(cpu.v, gpu.v):.5f}")


if __name__ == "__main__":
    main()
