"""A made-up byte-level BPE vocabulary of any size, for models whose text does not matter."""

WORDS = ("the of and to in is that it for was on are as with his they at be this have from or one had "
         "by word but not what all were we when your can said there use an each which she do how their "
         "if will up other about out many then them these so some").split()
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
NORMAL, CONTROL_TYPE, UNUSED = 1, 3, 5     # token types of GGUF


def byte_symbols():
    """GPT-2's printable stand-ins for the 256 byte values, in byte order."""
    keep = set(range(33, 127)) | set(range(161, 173)) | set(range(174, 256))
    stand_ins = iter(range(256, 512))
    return [chr(b) if b in keep else chr(next(stand_ins)) for b in range(256)]


def byte_level_bpe(size):
    """size tokens: bytes, merges of some English words, padding, control tokens at the end.
    Returns tokens, token types, merges and {control token: id}."""
    room = size - len(CONTROL)
    tokens = byte_symbols()
    if room < len(tokens):
        raise ValueError("a byte-level vocabulary has at least %d tokens" % (256 + len(CONTROL)))
    known, merges = set(tokens), []
    for word in ["Ġ" + w for w in WORDS] + WORDS:
        left = word[0]
        for letter in word[1:]:
            if left + letter not in known:
                if len(tokens) >= room:
                    break
                known.add(left + letter)
                tokens.append(left + letter)
                merges.append(left + " " + letter)
            left += letter
    types = [NORMAL] * len(tokens) + [UNUSED] * (room - len(tokens)) + [CONTROL_TYPE] * len(CONTROL)
    tokens += ["[PAD%d]" % i for i in range(len(tokens), room)] + list(CONTROL)
    return tokens, types, merges, {name: room + i for i, name in enumerate(CONTROL)}
