"""Decoder networks a second time, in numpy and double precision, to compare the C engine with.

Written from the papers and the published descriptions of the models, sharing nothing with the
engine. Speed does not matter here; every step is one line of the paper. The only concession to the
engine is that keys and values may be rounded to half precision, since that is how its cache keeps
them. decoder.py is the plain network, maths.py and rope.py what it is made of; each family of
architectures has a file with a NETWORKS table.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scripts", "gguf"))
from container import Reader

from . import dense, gemma, hybrid, latent, mixture

FAMILIES = (dense, gemma, hybrid, mixture, latent)
NETWORKS = {name: network for family in FAMILIES for name, network in family.NETWORKS.items()}


def Network(path, half_cache=True):
    """The network of the file at path; feed() takes a sequence's next tokens and gives their logits."""
    f = Reader(path)
    return NETWORKS[f.meta["general.architecture"].decode()](f, half_cache)
