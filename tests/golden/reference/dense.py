"""Dense decoders, each as far as it differs from the plain one."""
from .decoder import Decoder


class Llama(Decoder):                      # arXiv:2302.13971, arXiv:2407.21783
    pairs = "neighbours"


class Qwen2(Decoder):                      # arXiv:2407.10671: biases, found where the file has them
    pass


class Qwen3(Decoder):                      # arXiv:2505.09388: queries and keys normalised per head
    pass


NETWORKS = {"llama": Llama, "qwen2": Qwen2, "qwen3": Qwen3}
