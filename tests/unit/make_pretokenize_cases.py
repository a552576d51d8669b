#!/usr/bin/python3
"""Writes tests/unit/pretokenize_cases.txt: how each family's published regular expressions cut texts,
said by Python's regex module and not by our scanners.

    tests/unit/make_pretokenize_cases.py > tests/unit/pretokenize_cases.txt

Needs python3-regex. A line is a text (JSON), or a family and the bytes of each of its pieces.
`--cut` reads NAME, a tab and a JSON text from every line of stdin and answers with the line above, for
comparing more texts by hand.
"""
import json
import sys

import regex

S = r"\s*[\r\n]+|\s+(?!\S)|\s+"
C = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
SYMBOL = r" ?[^\s\p{L}\p{N}]+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
HAN = r"\p{Han}"
UPPER_K = r"[[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]&&[^\p{Han}]]"
LOWER_K = r"[[\p{Ll}\p{Lm}\p{Lo}\p{M}]&&[^\p{Han}]]"


def cased(suffix="", upper=UPPER, lower=LOWER):
    prefix = r"[^\r\n\p{L}\p{N}]?"
    return f"{prefix}{upper}*{lower}+{suffix}|{prefix}{upper}+{lower}*{suffix}"


CASED_REST = SYMBOL + r"[\r\n/]*|" + S
DEEPSEEK_LETTERS = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af"
    "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5"
    "\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba"
    "\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45"
    "\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe"
    "\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102"
    "\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3"
    "\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06"
    "\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"
    "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df"
    "\U0001e900-\U0001e943"
)
CJK = "[一-龥぀-ゟ゠-ヿ]+"
SYLLABLES = "[一-龥ࠀ-一가-\ud7ff]+"
CODE = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"
        r" ?[\p{P}\p{S}]+")
BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+"
ASIAN = ("[一-鿿㐀-䶿\uf900-\ufaff぀-ゟ゠-ヿ･-ﾟ⼀-\u2fdf\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff"
         "\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff가-\ud7afᄀ-ᇿ]+")

# One name of each family, and its steps; each cuts what the ones before it left.
FAMILIES = {
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "gpt-2": [GPT2],
    "smollm": [r"\p{N}", GPT2],
    "llama-bpe": [C + "|" + WORD + r"|\p{N}{1,3}|" + SYMBOL + r"[\r\n]*|" + S],
    "jais-2": [C + "|" + WORD + r"|\p{N}{1,3}|" + SYMBOL + r"[\r\n]*|\s*[\r\n]+|" +
               "|".join(r"\s{%d}(?!\S)" % n for n in (512, 256, 128, 64, 32, 16, 8, 4)) +
               r"|\s{1,2}(?!\S)|\s{1}"],
    "minicpm5": [r"\p{N}{1,3}", C + "|" + WORD + r"|\p{N}+|" + SYMBOL + r"[\r\n]*|" + S],
    "qwen2": [C + "|" + WORD + r"|\p{N}|" + SYMBOL + r"[\r\n]*|" + S],
    "bailingmoe": [r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}|"
                   r" ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
    "qwen35": [C + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + S],
    "ufakzeka": [WORD + r"|\p{N}|" + SYMBOL + r"[\r\n]*|" + S],
    "laguna": [r"[^\n]+|[\n]+", C + "|" + WORD + r"|\p{N}|" + SYMBOL + r"[\r\n]*|" + S],
    "seed-coder": [C + "|" + WORD + r"|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|" + S],
    "exaone-moe": [C + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|" + SYMBOL +
                   r"[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"],
    "deepseek-llm": [r"[\r\n]", r"\s?[" + DEEPSEEK_LETTERS + "]+",
                     r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+\Z", SYLLABLES, r"\p{N}+"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", SYLLABLES, r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", CJK, CODE + r"[\r\n]*|" + S],
    "spark2_5": [r"\p{N}{1,3}", CJK, CODE + r"|[\r\n]|\s+(?!\S)|\s+", r"\p{N}"],
    "afmoe": [r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))", ASIAN, CODE + r"[\r\n]*|" + S],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "chameleon": ["<sentinel:[0-9]+>", "(?:IMGIMG)(?:(?:A|B|C|D|E|F|G|H|I){1,4})Z",
                  r"[\t\n]|    |  ", r"\p{N}", r"[\p{P}!-/:-@\[-`{-~]", GPT2],
    "tekken": [cased() + r"|\p{N}|" + CASED_REST],
    "gpt-4o": [cased(C + "?") + r"|\p{N}{1,3}|" + CASED_REST],
    "tiny_aya": [r"\p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?![\p{L}\p{M}\p{Nd}\p{Pc}]))",
                 cased(C + "?") + r"|\p{N}{1,3}|" + CASED_REST],
    "kimi-k2": [r"\p{Han}+|" + cased(C + "?", UPPER_K, LOWER_K) + r"|\p{N}{1,3}|" + SYMBOL +
                r"[\r\n]*|" + S],
    "youtu": ["[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+",
              cased(C + "?") + r"|\p{N}|" + CASED_REST],
    "superbpe": [r"\p{N}+", r"(?=(?:\p{Nd}{3})+(?!\p{Nd}))"],
    "bloom": [BLOOM],
    "viking": [BLOOM, r"\p{N}"],
    "gemma4": [r"[^\n]+|[\n]+"],
    "whitespace": [r"\S+"],
}

TEXTS = [
    "Hello, world! It's 10:30pm, don't WE'RE I'll I'LL'VE 'twas o'clock",
    "  two  spaces\ttab\n\n\nlines \n \r\n\r\n end   ",
    "HelloWorld FOOBar camelCaseABC ABCd XMLHttpRequest2 iOS McDonald's O'Neil's",
    "1 12 123 1234 12345 123456 1234567 1990s 0x1F 3.14159 1,000,000 12a 1_000",
    "def f(x):\n    if x >= 10: return x**2 // 3  # note\n\treturn {'a': [1, 2]}\n",
    "http://example.com/a/b?c=d&e=%20f//\n/\r\n</div>!!!\n\n...",
    "ÉcoleÀ ŁÓDŹ ǅungla ʰello ПриветМир МОСКВА Ünïcödé ΑΒγδ ՀայԵրեն",
    "हिन्दी में बातचीत ำภาษาไทย ที่นี่ العَرَبِيَّة עִבְרִית বাংলা தமிழ்",
    "e\u0301a\u0308 \u0301x A\u0301B \u0301\u0301ABC 1\u0301 !\u0301a \u20dd",
    "日本語カタカナひらがな中文汉字々〇⺀〡한국어ㄱㅎㄅㄆ、。「」　全角 中 A中B中c",
    "混合mixed文字text，标点。123个，ＡＢＣａｂｃ１２３ ｶﾅ",
    "😀👨\u200d👩\u200d👧 🏳️\u200d🌈🇩🇪 ❤️!! ☕\u200b\ufeff x",
    "٠١٢٣ ४५६७८ ²½Ⅷ① 1٢3 12٣45678 ٣٣٣٣ 33173٢ ²1234 2016½ 2016é",
    "\u00a0nbsp\u2003em\u3000id\u0085nel\u2028ls\u2029ps \u2003\u2003 x\u1680\u205f",
    "\x02\x01\x1f\x7f\x80\ue000\u0378\U000f0000 a\x01b \x01 1\x01 \x01\x01\n",
    "…“quotes”—dash：；，！ €100 $5 £3 +1 <=> a^b `c` ~d |e| a·b ‘s’ ’s",
    "<sentinel:12><sentinel:><sentinel:3 IMGIMGABCZ IMGIMGABCDEZ IMGIMGZ",
    "a? b! c, d. e… f。g，h、i। j۔ k، (l) |m| n",
    "한국어 문장 입니다 a b  c d\u0301 e 1 f\n g",
    "'s't're've'm'll'd'S'T'RE'x' s 'ſ ''s !'s",
    "\n", " ", "  ", "\r", "a", "1", "'", "\u0301", "中", "A", "\t\t", " a", " 1", " !", " \n",
    " " * 1100 + "x", " " * 700, "1" * 100, "A" * 40 + "b", "A中" * 6 + "AAA", "/" * 9 + "\n//",
]


def cut(steps, text):
    pieces = [text]
    for step in steps:
        expression = regex.compile(step, regex.VERSION1 if "&&" in step else 0)
        after = []
        for piece in pieces:
            at = 0
            for match in expression.finditer(piece):
                after += [piece[at:match.start()], match.group()]
                at = match.end()
            after.append(piece[at:])
        pieces = [p for p in after if p]
    return pieces


def line(name, text):
    return name + " " + " ".join(str(len(p.encode())) for p in cut(FAMILIES[name], text))


if "--cut" in sys.argv:
    for row in sys.stdin:
        family, text = row.rstrip("\n").split("\t")
        print(line(family, json.loads(text)))
else:
    for text in TEXTS:
        print(json.dumps(text))
        for family in FAMILIES:
            print(line(family, text))
