/* What the media view works out by itself: texts, subtitles, sound, requests as code, models. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { Cutter } from "../../../ui/lib/audio/cutter.js";
import { mixed, wavOf } from "../../../ui/lib/audio/wav.js";
import { able, editors, obtainable } from "../../../ui/lib/media/abilities.js";
import { problemsOf, requestOf } from "../../../ui/lib/media/paint.js";
import { fileName, roundedSize, within } from "../../../ui/lib/media/pictures.js";
import { shortTime, timestamp, toSrt, toText, toVtt } from "../../../ui/lib/media/subtitles.js";
import { cosine, nearest, rangeOf, shareOf, similarities, splitTexts } from "../../../ui/lib/media/texts.js";
import { InBase64, SNIPPETS } from "../../../ui/lib/snippets.js";

test("a pasted text is divided", () => {
    assert.deepEqual(splitTexts(" a \n\n b\r\nc\n", "line"), ["a", "b", "c"]);
    assert.deepEqual(splitTexts("a\nb\n \t\nc\n\n\n\nd", "paragraph"), ["a\nb", "c", "d"]);
    assert.deepEqual(splitTexts(" \n ", "line"), []);
});

test("similarities of vectors", () => {
    assert.equal(cosine([1, 0], [0, 2]), 0);
    assert.equal(cosine([3, 4], [-3, -4]), -1);
    assert.ok(Math.abs(cosine([1, 1], [1, 0]) - Math.SQRT1_2) < 1e-12);
    assert.equal(cosine([0, 0], [1, 0]), 0);
    const rows = similarities([[1, 0], [0, 1], [1, 0.1]]);
    assert.equal(rows[0][1], 0);
    assert.equal(rows[2][0], rows[0][2]);
    assert.deepEqual(nearest(rows).map(({ a, b }) => [a, b]), [[0, 2], [1, 2], [0, 1]]);
    assert.deepEqual(nearest(rows, 1).map(({ a, b }) => [a, b]), [[1, 2], [1, 0]]);
    const range = rangeOf(rows);
    assert.equal(range.least, 0);
    assert.equal(shareOf(range.most, range), 1);
    assert.equal(shareOf(0.5, { least: 0.5, most: 0.5 }), 1);
});

test("subtitles", () => {
    const segments = [{ start: 0, end: 1.5, text: " Hello\n\nthere. " }, { start: 59.9996, end: 3661.25, text: "A < B --> C & D" }];
    assert.equal(timestamp(59.9996, ","), "00:01:00,000");
    assert.equal(toSrt(segments), "1\n00:00:00,000 --> 00:00:01,500\nHello there.\n\n2\n00:01:00,000 --> 01:01:01,250\nA < B -> C & D\n\n");
    assert.equal(toVtt(segments), "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello there.\n\n" +
        "00:01:00.000 --> 01:01:01.250\nA &lt; B --&gt; C &amp; D\n\n");
    assert.equal(toText(segments), "Hello there.\nA < B --> C & D\n");
    assert.deepEqual([shortTime(0), shortTime(75.9), shortTime(3661)], ["0:00", "1:15", "1:01:01"]);
});

test("sound as a WAV file", () => {
    const data = new DataView(wavOf(new Float32Array([0, 1, -1, 2, 0.5]), 16000));
    const text = (at) => String.fromCharCode(...new Uint8Array(data.buffer, at, 4));
    assert.deepEqual([text(0), text(8), text(12), text(36)], ["RIFF", "WAVE", "fmt ", "data"]);
    assert.equal(data.getUint32(4, true), 36 + 10);
    assert.equal(data.getUint32(24, true), 16000);
    assert.equal(data.getUint32(28, true), 32000, "bytes per second");
    assert.equal(data.getUint32(40, true), 10);
    assert.deepEqual([0, 1, 2, 3, 4].map((i) => data.getInt16(44 + 2 * i, true)), [0, 32767, -32767, 32767, 16384]);
    assert.deepEqual([...mixed([new Float32Array([1, 0]), new Float32Array([0, -1])])], [0.5, -0.5]);
});

/* A recording as levels of 100 ms each. */
function cuts(levels) {
    const cutter = new Cutter();
    return levels.map((level, i) => [i, cutter.feed(level, 100)]).filter(([, end]) => end);
}
const of = (n, level) => Array(n).fill(level);

test("a recording is cut in its pauses", () => {
    assert.deepEqual(cuts([...of(5, 0.001), ...of(30, 0.1), ...of(10, 0.001)]), [[39, "cut"]], "half a second after the last word");
    assert.deepEqual(cuts([...of(5, 0.001), ...of(10, 0.1), ...of(5, 0.001), ...of(10, 0.1), ...of(5, 0.001)]), [[34, "cut"]],
        "a short piece goes on beyond a pause");
    assert.deepEqual(cuts([...of(5, 0.001), ...of(300, 0.1)]), [[149, "cut"], [299, "cut"]], "at the latest after 15 seconds");
    assert.deepEqual(cuts(of(60, 0.002)), [[29, "drop"], [59, "drop"]], "silence is no piece");
    const cutter = new Cutter();
    cutter.feed(0.001, 100);
    cutter.feed(0.1, 100);
    assert.equal(cutter.end(), "cut");
    assert.equal(cutter.end(), "drop");
});

const model = (id, capabilities, more = {}) => ({ id, capabilities, downloaded: true, size_bytes: 1, ...more });

test("which models serve a panel", () => {
    const all = [model("e", ["embed"]), model("away", ["embed"], { downloaded: false }), model("far", ["embed"], { downloaded: false, recipe: "remote" }),
        model("odd", ["embed"], { unsupported: "no engine" }), model("other-name", ["embed"], { alias_of: "e" }),
        model("paint", ["image"]), model("paint-edit", ["image", "edit"]), model("lens", ["image", "upscale"])];
    const ids = (list) => list.map((m) => m.id);
    assert.deepEqual(ids(able(all, "embed")), ["e", "far"]);
    assert.deepEqual(ids(able(all, "image")), ["paint", "paint-edit"], "what only enlarges makes no picture");
    assert.deepEqual(ids(able(all, "upscale")), ["lens"]);
    assert.deepEqual(ids(editors(all)), ["paint-edit", "paint"]);
});

test("what to fetch, or why nothing can", () => {
    const listed = (id, size, more) => model(id, ["speak"], { downloaded: false, size_bytes: size, ...more });
    const some = [listed("large", 9, { suggested: true }), listed("small", 2, { suggested: true }), listed("plain", 1), listed("more", 3, { suggested: true }),
        listed("cannot", 0, { unsupported: "no engine" })];
    assert.deepEqual(obtainable(some, "speak").offers.map((m) => m.id), ["small", "more", "large"]);
    assert.equal(obtainable(some, "speak").reason, "");
    assert.equal(obtainable([some[4]], "speak").reason, "no engine");
    assert.equal(obtainable([some[4], model("here", ["speak"], { unsupported: "its engine is gone" })], "speak").reason, "its engine is gone");
    assert.deepEqual(obtainable([], "speak"), { offers: [], reason: "" });
});

const ASK = { prompt: " A plum ", negative: "", size: "", steps: null, guidance: null, strength: null, seed: 7, count: 1 };
const SOURCE = { file: { name: "plum.png" }, width: 801, height: 603 };

test("requests for pictures", () => {
    assert.deepEqual(requestOf("generate", "m", { ...ASK, strength: 0.5, steps: 4, guidance: 1 }).json,
        { model: "m", prompt: "A plum", steps: 4, cfg_scale: 1, seed: 7 });
    assert.deepEqual(requestOf("edit", "m", ASK, { source: SOURCE, mask: { name: "mask.png" } }).form,
        [["model", "m"], ["image", SOURCE.file], ["mask", { name: "mask.png" }], ["prompt", "A plum"], ["size", "800x600"], ["seed", 7]]);
    assert.deepEqual(requestOf("vary", "m", { ...ASK, size: "64x64" }, { source: SOURCE }).form,
        [["model", "m"], ["image", SOURCE.file], ["size", "64x64"], ["seed", 7]]);
    const { path, json } = requestOf("enlarge", "m", ASK, { source: SOURCE });
    assert.equal(path, "/v1/images/upscale");
    assert.ok(json.image instanceof InBase64 && json.image.file === SOURCE.file);
});

test("what is wrong with a request for pictures", () => {
    assert.deepEqual(problemsOf("generate", ASK, null), {});
    assert.deepEqual(Object.keys(problemsOf("edit", { ...ASK, prompt: " ", steps: 1.5, size: "8x64", seed: -1, count: null }, null)),
        ["prompt", "source", "size", "steps", "seed"]);
    assert.deepEqual(problemsOf("vary", { ...ASK, prompt: "" }, SOURCE), {}, "a variation has no description");
    assert.deepEqual(Object.keys(problemsOf("generate", { ...ASK, size: "512x" }, null)), ["size"]);
});

test("sizes and names of pictures", () => {
    assert.deepEqual(within({ width: 8192, height: 4096 }, 4096), { width: 4096, height: 2048 });
    assert.deepEqual(within({ width: 100, height: 50 }, 4096), { width: 100, height: 50 });
    assert.deepEqual(roundedSize({ width: 5000, height: 9 }), { width: 4096, height: 16 });
    assert.equal(fileName({ prompt: "Ein Apfel, rot & süß!", seed: 0, kind: "generate" }), "ein-apfel-rot-süß-0.png");
    assert.equal(fileName({ kind: "enlarge" }), "enlarge.png");
});

/* ---- snippets: each is run by its own program ---- */

const SERVER = { origin: "http://localhost:1", key: false };
const ODD = "it's \"so\" $HOME `x` \\n\nnew line € 😀";
const json = { path: "/v1/x", json: { model: "m", input: [ODD], on: true, none: null, n: 1.5 } };

/* What a shell would give to curl as arguments and input. */
function asCurl(code) {
    const fake = 'curl() { for a in "$@"; do printf "%s\\0" "$a"; done; if [ ! -t 0 ]; then printf "\\001"; cat; fi; }\n';
    const out = execFileSync("bash", ["-c", fake + code], { input: "" }).toString();
    const [args, input] = out.split("\u0001");
    return { args: args.split("\0").slice(0, -1), input };
}

test("curl gets what was sent", () => {
    const { args } = asCurl(SNIPPETS.curl(json, SERVER));
    assert.equal(args[0], "http://localhost:1/v1/x");
    assert.deepEqual(JSON.parse(args[args.indexOf("-d") + 1]), json.json);
    const form = asCurl(SNIPPETS.curl({ path: "/f", form: [["model", "@m;x"], ["file", { name: "a b;c.wav" }]], saves: { as: "body", name: "o.mp3" } },
        { ...SERVER, key: true })).args;
    assert.deepEqual(form.slice(0, 5), ["-s", "http://localhost:1/f", "-o", "o.mp3", "-H"]);
    assert.deepEqual(form.slice(6), ["--form-string", "model=@m;x", "-F", 'file=@"a b;c.wav"']);
});

test("curl takes a file as base64 from a here-document", () => {
    const request = { path: "/u", json: { model: ODD, image: new InBase64({ name: "it's.png" }) } };
    const code = SNIPPETS.curl(request, SERVER);
    const base64 = `base64() { printf 'B64(%s)' "$2"; }\n`;
    assert.deepEqual(JSON.parse(asCurl(base64 + code).input), { model: ODD, image: "B64(it's.png)" });
    const piped = SNIPPETS.curl({ ...request, saves: { as: "base64", name: "p.png" } }, SERVER).replace(/\| jq .*/, "| cat");
    assert.deepEqual(JSON.parse(asCurl(base64 + piped).input), { model: ODD, image: "B64(it's.png)" });
});

test("Python and JavaScript send the same", () => {
    const stub = "import sys, types, json\nm = types.ModuleType('requests')\ndef post(url, **kw):\n    print(json.dumps([url, kw['json']]))\n    sys.exit()\n" +
        "m.post = post\nsys.modules['requests'] = m\n";
    const said = JSON.parse(execFileSync("python3", ["-c", stub + SNIPPETS.python(json, SERVER)]).toString());
    assert.deepEqual(said, ["http://localhost:1/v1/x", json.json]);
    const js = "globalThis.fetch = async (url, how) => { console.log(JSON.stringify([url, JSON.parse(how.body)])); process.exit(); };\n";
    const told = JSON.parse(execFileSync("node", ["--input-type=module", "-e", js + SNIPPETS.javascript(json, SERVER)]).toString());
    assert.deepEqual(told, said);
});

test("programs with files are programs", () => {
    const requests = [
        { path: "/f", form: [["model", "m"], ["file", { name: "a.wav" }]], saves: { as: "body", name: "o.mp3" } },
        { path: "/u", json: { image: new InBase64({ name: "p.png" }) }, saves: { as: "base64", name: "picture.png" } },
    ];
    for (const request of requests)
        for (const key of [true, false]) {
            execFileSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], { input: SNIPPETS.python(request, { ...SERVER, key }) });
            execFileSync("node", ["--input-type=module", "--check", "-"], { input: SNIPPETS.javascript(request, { ...SERVER, key }) });
            execFileSync("bash", ["-n"], { input: SNIPPETS.curl(request, { ...SERVER, key }) });
        }
    assert.match(SNIPPETS.python(requests[1], SERVER), /open\(f"picture-\{i\}\.png", "wb"\)/);
});
