"""Low-rank adapters (arXiv:2106.09685): a network whose matrices are W + scale · alpha / rank · B·A, as
merging the adapter into the model would make them. An output matrix that is the embedding changes with
it."""
import numpy as np


def change(f, name):
    """What the adapter file f adds to the tensor of this name; None: nothing."""
    if not f.has(name + ".lora_a"):
        return None
    a, b = (f.tensor(name + end).astype(np.float64) for end in (".lora_a", ".lora_b"))
    alpha, rank = f.meta.get("adapter.lora.alpha", 0), b.shape[-1]
    both = a @ b.T if name == "token_embd.weight" else np.matmul(b, a)
    return both * (alpha / rank if alpha else 1)


def adapt(network, mix):
    """Changes the network by adapters: mix is a list of (file, scale)."""
    plain = network.weight

    def weight(name):
        if name not in network.loaded:
            value = plain(name).copy()
            for f, scale in mix:
                delta = change(f, name)
                if delta is not None:
                    value += scale * delta
            network.loaded[name] = value
        return network.loaded[name]

    network.weight = weight
    network.loaded.clear()
    network.clear()
    return network
