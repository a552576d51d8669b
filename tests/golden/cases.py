"""Which models the golden tests make: (architecture, type, options of make_random_gguf).

The options are for the preset small-<architecture>; one of them may be another --preset."""
FLOATS = ("f32", "f16", "bf16")
QUANTISED = ("q8_0", "q4_0", "q4_k", "q5_k", "q6_k")
RARER = ("q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "iq4_nl", "iq4_xs", "mxfp4", "nvfp4", "tq1_0", "tq2_0",
         "iq3_s", "iq3_xxs", "iq2_s", "iq2_xs", "iq2_xxs", "iq1_m", "iq1_s")

# Where activations are rounded, random layers multiply the error: more of the stream is the token
# itself then, as it is in trained models.
STEADY = ["--separate-output", "--embedding-std", "1"]


def numbers(**values):
    return [word for key, value in values.items() for word in ("--set", "%s=%s" % (key, value))]


# Matrices of a million weights and more meet activations of eight bits, smaller ones of sixteen.
LARGE = STEADY + numbers(dim=1024, ff=1024, heads=8, kv_heads=8, head_dim=128, layers=1)


def types():
    """Every type, on the architectures that everything else is a variant of."""
    for arch in ("llama", "qwen2", "qwen3"):
        for kind in FLOATS:
            yield arch, kind, []
        for kind in QUANTISED:
            yield arch, kind, STEADY
        yield arch, "q4_k_m", STEADY
        yield arch, "q6_k", ["--embedding-std", "0.3", *numbers(layers=1)]
    yield "llama", "q5_k_m", STEADY
    for kind in QUANTISED:
        yield "qwen3", kind, LARGE
    for kind in RARER:
        yield "llama", kind, STEADY + numbers(layers=1, vocab=512)
    for kind in ("mxfp4", "q2_k", "q3_k", "iq4_xs", "iq2_xs"):
        yield "llama", kind, LARGE + numbers(vocab=512)
    yield "llama", "q3_k_m", STEADY + numbers(vocab=512)
    yield "qwen2", "f32", ["--vectors", "f16"]


def shapes():
    yield "llama", "f32", ["--parts", "3"]
    yield "llama", "f32", numbers(kv_heads=4)
    yield "qwen3", "f16", numbers(heads=8, kv_heads=1, head_dim=64)
    yield "llama", "f32", numbers(dim=72, head_dim=18, ff=100)


def positions():
    for arch in ("llama", "qwen2", "qwen3"):
        yield arch, "f16", ["--rope-linear", "4", "--separate-output"]
    yield "qwen3", "f32", ["--rope-yarn", "4"]
    yield "llama", "f32", ["--rope-freqs"]
    yield "llama", "q8_0", STEADY + ["--rope-freqs"]


def hybrids():
    for arch in ("lfm2", "mamba2", "falcon-h1", "granitehybrid", "nemotron_h", "qwen35"):
        yield arch, "f32", []
        yield arch, "q8_0", STEADY
    for arch in ("lfm2moe", "granite-mixture", "qwen3next", "qwen3next-older", "qwen35moe"):
        yield arch, "f16", STEADY
    yield "nemotron_h_moe", "f32", STEADY
    yield "nemotron_h_moe", "q8_0", STEADY
    yield "lfm2", "f16", ["--vectors", "f16"]
    yield "lfm2", "q4_k", STEADY
    yield "mamba2", "f16", numbers(groups=4, ssm_heads=4, ssm_norm=0)
    yield "qwen35", "q4_k", STEADY
    yield "qwen35", "f32", numbers(guesses=1)
    yield "qwen35", "f16", numbers(groups=2, states=48, interval=3)
    yield "granitehybrid", "f32", numbers(rotates=1)
    yield "mamba2", "f32", numbers(inner=160, ssm_heads=2, states=17)


def mixtures():
    for arch in ("mixtral", "qwen2moe", "qwen3moe"):
        for kind in ("f32", "q8_0", "q4_k_m"):
            yield arch, kind, STEADY
    for arch in ("granitemoe", "olmoe", "deepseek", "glm4moe", "glm4moe-normed", "ernie4_5-moe", "dots1",
                 "bailingmoe2", "hunyuan-moe", "minimax-m2", "gpt-oss", "llama4"):
        yield arch, "f32", STEADY
        yield arch, "q8_0", STEADY
    yield "phimoe", "f32", STEADY
    yield "phimoe", "f32", STEADY + numbers(longrope=64)
    yield "phimoe", "q8_0", STEADY + numbers(longrope=1024)
    yield "gpt-oss", "mxfp4_moe", STEADY + ["--rope-yarn", "32"]
    yield "gpt-oss", "f32", STEADY + ["--rope-yarn", "32"]
    for arch in ("deepseek2", "deepseek3", "deepseek2-old"):
        for kind in ("f32", "q8_0"):
            yield arch, kind, STEADY
    yield "qwen3moe-merged", "f16", STEADY
    for kind in ("f32", "f16", "q4_k"):
        yield "mixtral-apart", kind, STEADY
    for kind in ("f16", "bf16", "q4_0", "q4_k", "q5_k", "q6_k"):
        yield "qwen3moe", kind, STEADY + numbers(experts=5, used=3)
    for kind in ("nvfp4", "q3_k", "iq2_xs"):           # the first has factors for each expert
        yield "qwen3moe", kind, STEADY + numbers(experts=5, used=3, layers=1, vocab=512)


def dense():
    for arch in ("gemma", "gemma2", "gemma3", "mistral3", "smollm3", "phi3", "granite", "olmo2", "glm4",
                 "command-r", "command-r-plus", "cohere2", "exaone4", "seed_oss", "ernie4_5", "qwen2vl", "qwen3vl"):
        yield arch, "f32", []
        yield arch, "q8_0", STEADY
    for arch in ("gemma3n", "gemma4"):
        yield arch, "f32", []
        yield arch, "q8_0", STEADY
    yield "gemma4", "f32", numbers(input=0, shared=0)
    yield "exaone4", "f32", numbers(window=0)
    yield "phi3", "f32", numbers(longrope=64)      # the tests' sequences have room for 512
    yield "phi3", "f32", numbers(longrope=1024)
    yield "phi3", "f32", numbers(longrope=64, longrope_named=1)
    yield "olmo2", "f32", numbers(window=12, layers=5) + ["--rope-yarn", "8"]
    yield "gemma3", "f32", ["--rope-linear", "8"]


def cases():
    for family in (types, shapes, positions, dense, hybrids, mixtures):
        yield from family()
