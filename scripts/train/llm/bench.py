"""Training speed on this machine, on random tokens: python3 bench.py [DIMxLAYERSxHEADSxFF ...]"""
import sys
import time

import torch

import model

for spec in sys.argv[1:] or ["256x6x4x768", "256x8x4x768"]:
    d, n, h, ff = map(int, spec.split("x"))
    m = model.TrainModel(dict(vocab=3072, dim=d, layers=n, heads=h, ff=ff))
    for length in (64, 256):
        rows = 8192 // length
        x = torch.randint(3, 3072, (rows, length))
        w = (torch.rand(rows, length) < 0.4).float()
        times = []
        for _ in range(6):
            t = time.time()
            m.loss(x, x, w).backward()
            m.step(1e-4)
            times.append(time.time() - t)
        print(f"{spec} {m.n / 1e6:.1f} M parameters, rows of {length}: "
              f"{8192 / min(times):.0f} tokens/s, {torch.get_num_threads()} threads", flush=True)
