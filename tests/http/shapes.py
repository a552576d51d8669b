"""Checks a reply against an example in another server's API document: every member that the example shows
must be there with a value of the same JSON type."""


def kind(value):
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, (int, float)):
        return "number"
    return {str: "string", list: "array", dict: "object", type(None): "null"}[type(value)]


def check(value, example, where="reply", may_be_null=()):
    """An array's items must all be like the example's first one. Members named in may_be_null may be null."""
    if value is None and where.rsplit(".", 1)[-1] in may_be_null:
        return
    assert kind(value) == kind(example), f"{where} is {kind(value)} ({value!r:.80}), not {kind(example)}"
    if isinstance(example, dict):
        for name, item in example.items():
            assert name in value, f"{where} has no member {name!r}: {sorted(value)}"
            check(value[name], item, f"{where}.{name}", may_be_null)
    elif isinstance(example, list) and example:
        for i, item in enumerate(value):
            check(item, example[0], f"{where}[{i}]", may_be_null)
