"""Functions that networks are made of."""
import numpy as np


def rms_norm(x, weight, eps):              # arXiv:1910.07467
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def layer_norm(x, weight, eps):            # arXiv:1607.06450, before its bias
    away = x - x.mean(axis=-1, keepdims=True)
    return away / np.sqrt(np.mean(away * away, axis=-1, keepdims=True) + eps) * weight


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):                               # arXiv:1702.03118
    return x * sigmoid(x)


def gelu_tanh(x):                          # arXiv:1606.08415, the approximation
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def softcap(x, limit):                     # arXiv:2408.00118
    return np.tanh(x / limit) * limit if limit else x
