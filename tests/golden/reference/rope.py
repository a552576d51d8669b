"""Rotary positions (arXiv:2104.09864) and what files say of them."""
import numpy as np


def yarn(angular, dim, base, factor, original, fast, slow, extrapolated, exact):
    """arXiv:2309.00071, section 3.2: pairs that turn more than `fast` times within the original context
    keep their frequency, those below `slow` turns are stretched, others in between. exact: the two
    bounds are not moved to whole pairs."""
    pair = lambda turns: dim * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(base))
    low, high = pair(fast), pair(slow)
    if not exact:
        low, high = np.floor(low), np.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    kept = 1 - np.clip((np.arange(dim // 2) - low) / max(high - low, 0.001), 0, 1)
    kept = kept * extrapolated
    return angular / factor * (1 - kept) + angular * kept


def frequencies(get, dim, base, divisors=None, log_multiplier=0.0, exact=False):
    """Radians per position of each pair, [dim / 2], and what sines and cosines are multiplied by.
    get(key, default): the file's metadata. divisors: Llama 3's tensor rope_freqs, or longrope's."""
    angular = base ** (-np.arange(0, dim, 2) / dim)
    if divisors is not None:
        angular = angular / divisors
    kind, factor = get("rope.scaling.type", b"none"), get("rope.scaling.factor", 1.0)
    scale = get("rope.scaling.attn_factor", 1.0)
    if kind == b"linear":
        angular = angular / factor
    if kind == b"yarn":
        angular = yarn(angular, dim, base, factor, get("rope.scaling.original_context_length"),
                       get("rope.scaling.yarn_beta_fast", 32.0), get("rope.scaling.yarn_beta_slow", 1.0),
                       get("rope.scaling.yarn_ext_factor", 1.0), exact)
        scale *= (1 + 0.1 * np.log(factor)) / (1 + 0.1 * log_multiplier * np.log(factor))
    return angular, scale


def rotate(x, positions, angular, scale, pairs):
    """x [n, heads, head_dim]; positions [n], or [n, pairs] for tokens of a picture; the first 2·len(angular) elements of each head turn. pairs: "neighbours"
    (2i, 2i+1) as llama's files have them, or "halves" (i, i + n/2)."""
    angle = (positions[:, None, None] if positions.ndim == 1 else positions[:, None, :]) * angular
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    out, n = x.copy(), 2 * len(angular)
    if pairs == "neighbours":
        a, b = np.s_[..., 0:n:2], np.s_[..., 1:n:2]
    else:
        a, b = np.s_[..., :n // 2], np.s_[..., n // 2:n]
    out[a] = x[a] * cos - x[b] * sin
    out[b] = x[a] * sin + x[b] * cos
    return out
