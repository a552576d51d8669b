/* What the models view works out by itself: what fits, what is recommended, downloads, options. */
import assert from "node:assert/strict";
import test from "node:test";
import { activeShare, measuredSpeed, proposals, recommended, roughly } from "../../../ui/lib/models/choose.js";
import { fitOf, machineOf, memoryFor, ROOM_BESIDE } from "../../../ui/lib/models/fit.js";
import { actionsOf, hasEnded, inOrder, jobOf, moved, progressOf } from "../../../ui/lib/models/jobs.js";
import { grouped, kindOf, listed, matches, offered } from "../../../ui/lib/models/list.js";
import { changesOf, textOf, valueOf } from "../../../ui/lib/models/options.js";

const GB = 1e9, GIB = 2 ** 30;
const machine = { total: 16 * GIB, limit: 14 * GIB, free: 8 * GIB, disk: 20 * GB };

test("the machine's figures", () => {
    const info = { model_storage: { free_bytes: 5 }, devices: { cpu: { cores: 4 }, nvidia_dgpu: [{ name: "A", vram_gb: 8 }],
        amd_igpu: { name: "B" } }, model_memory: { limit_bytes: 100, free_bytes: 30, used_bytes: 20 } };
    const m = machineOf(info, { memory_total_gb: 1, memory_gb: 0.5 });
    assert.equal(m.limit, 100);
    assert.equal(m.free, 50, "what models use can be freed for another one");
    assert.equal(m.disk, 5);
    const small = machineOf({ devices: {}, model_memory: { limit_bytes: 40, free_bytes: 30, used_bytes: 20 } }, null);
    assert.equal(small.free, 40, "no more than models may use");
    assert.deepEqual(m.gpus, [{ name: "A", memory: 8 * GIB }, { name: "B", memory: null }]);
    const old = machineOf({ devices: {} }, { memory_total_gb: 1, memory_gb: 0.25 });
    assert.equal(old.limit, 1e9, "without a limit all memory counts");
    assert.equal(old.free, 0.75e9);
    assert.equal(machineOf(null, null).limit, null);
});

test("what fits, and why not", () => {
    assert.equal(fitOf({ size: 4 * GIB }, machine).level, "good");
    assert.equal(fitOf({ size: 8 * GIB }, machine).level, "later", "other programs use the memory");
    assert.equal(fitOf({ size: 14 * GIB }, machine).level, "no");
    assert.equal(fitOf({ size: 14 * GIB - ROOM_BESIDE }, { ...machine, free: 100 * GIB, disk: null }).level, "good");
    assert.equal(fitOf({ size: 14 * GIB - ROOM_BESIDE + 1 }, { ...machine, free: 100 * GIB, disk: null }).level, "no");
    const small = { ...machine, disk: 1 * GB };
    assert.equal(fitOf({ size: 2 * GB }, small).level, "disk");
    assert.equal(fitOf({ size: 2 * GB, here: true }, small).level, "good", "it is on the disk already");
    assert.equal(fitOf({ size: 0 }, machine).level, "unknown");
    assert.equal(fitOf({ size: 4 * GIB }, { limit: null }).level, "unknown");
    assert.equal(fitOf({ size: 0, remote: true }, machine).level, "good");
    assert.equal(fitOf({ size: 4 * GIB }, machine).values.need, memoryFor(4 * GIB));
});

const variant = (name, gb, fits = true) => ({ name, size_bytes: gb * GB, fits });

test("the recommended variant", () => {
    const all = [variant("Q8_0", 8.5), variant("Q4_K_M", 5), variant("IQ2_M", 3), variant("F16", 16, false)];
    assert.equal(recommended(all, machine).name, "Q4_K_M");
    assert.equal(recommended(all, { ...machine, limit: 8 * GB }).name, "IQ2_M", "60 % of 8 GB are less than Q4_K_M has");
    assert.equal(recommended([variant("F16", 16, false)], machine), null);
    assert.equal(recommended([variant("Q8_0", 9), variant("Q6_K", 7)], machine).name, "Q6_K");
    assert.equal(recommended([variant("BF16", 1), variant("odd", 0.5)], machine).name, "BF16", "no known quantisation is offered");
    assert.equal(recommended([variant("Q4_K_M", 5)], { ...machine, disk: 4 * GB }), null, "the disk is too full");
    assert.equal(recommended([], machine), null);
});

const model = (id, gb, more = {}) => ({ id, size_bytes: gb * GB, suggested: true, downloaded: false,
    capabilities: ["chat"], labels: ["chat"], ...more });

test("three models are proposed, smallest first", () => {
    const list = [model("Tiny-0.5B", 0.4), model("Small-2B", 1.4), model("Mid-4B", 2.6), model("Mid-8B", 5), model("Moe-30B-A3B", 8),
        model("Dense-14B", 8.2), model("Huge-70B", 40), model("Here-4B", 2.5, { downloaded: true }),
        model("Odd-4B", 2.7, { unsupported: "of a kind" }), model("Embed-4B", 2.6, { capabilities: ["embed"] }),
        model("Old-4B", 2.6, { suggested: false })];
    const three = proposals(list, machine);
    assert.deepEqual(three.map((p) => p.kind), ["quick", "balanced", "large"]);
    assert.deepEqual(three.map((p) => p.model.id), ["Small-2B", "Mid-4B", "Moe-30B-A3B"]);
    assert.deepEqual(proposals(list, { ...machine, limit: 2 * GIB }).map((p) => p.model.id), ["Tiny-0.5B"]);
    assert.deepEqual(proposals(list, { limit: null }), []);
    assert.deepEqual(proposals([], machine), []);
});

test("the share of a mixture that computes", () => {
    assert.equal(activeShare("Qwen3-30B-A3B-GGUF"), 0.1);
    assert.equal(activeShare("Qwen3-8B"), 1);
});

test("times in round figures", () => {
    assert.deepEqual(roughly(10), { unit: "min", n: 1 });
    assert.deepEqual(roughly(262), { unit: "min", n: 4 });
    assert.deepEqual(roughly(33 * 60), { unit: "min", n: 35 });
    assert.deepEqual(roughly(3.2 * 3600), { unit: "h", n: 3 });
});

test("the speed of earlier downloads", () => {
    const job = (status, bytes, seconds) => ({ status, total_download_size: bytes, created: 100, changed: 100 + seconds });
    assert.equal(measuredSpeed([job("completed", 1000, 10), job("completed", 3000, 10), job("completed", 9, 1), job("error", 5e9, 10)]), 200);
    assert.equal(measuredSpeed([]), null);
});

const job = (id, more = {}) => ({ id, model_name: id, status: "downloading", running: true, priority: 0, created: 1, changed: 1,
    total_download_size: 1000, cumulative_bytes_downloaded: 250, bytes_per_second: 50, seconds_left: 15, complete: false, ...more });

test("progress of downloads", () => {
    assert.deepEqual(progressOf(job("a")), { share: 0.25, here: 250, total: 1000, speed: 50, left: 15 });
    assert.deepEqual(progressOf(job("a", { total_download_size: 0 })).share, null);
    const paused = progressOf(job("a", { status: "paused" }));
    assert.equal(paused.speed, null, "a paused download has no speed");
    assert.equal(paused.left, null);
    assert.equal(progressOf(job("a", { status: "completed", complete: true })).share, 1);
});

test("what can be done with downloads", () => {
    assert.deepEqual(actionsOf(job("a")), ["pause", "cancel"]);
    assert.deepEqual(actionsOf(job("a", { status: "paused" })), ["resume", "cancel"]);
    assert.deepEqual(actionsOf(job("a", { status: "error" })), ["again", "remove"]);
    assert.equal(hasEnded(job("a", { status: "error" })), true);
    assert.equal(hasEnded(job("a", { status: "error", retry_in_s: 5 })), false, "it will go on by itself");
});

test("the order of downloads", () => {
    const jobs = [job("done", { status: "completed", running: false }), job("late", { running: false, created: 3 }),
        job("early", { status: "paused", running: false, created: 2 }), job("now")];
    assert.deepEqual(inOrder(jobs).map((j) => j.id), ["now", "early", "late", "done"]);
    const change = moved(jobs, "late", -1);
    const after = jobs.map((j) => ({ ...j, ...change.find((c) => c.id === j.id) }));
    assert.deepEqual(inOrder(after).map((j) => j.id), ["now", "late", "early", "done"]);
    assert.ok(change.every((c) => c.priority <= 0 && c.priority >= -100));
    assert.deepEqual(moved(jobs, "now", -1), []);
    assert.deepEqual(moved(jobs, "late", 1), []);
    assert.deepEqual(moved(jobs, "done", -1), []);
});

test("the download of a model", () => {
    const jobs = [job("x", { model_name: "m", status: "cancelled" }), job("y", { model_name: "m" })];
    assert.equal(jobOf(jobs, "m").id, "y");
    assert.equal(jobOf([job("z", { complete: true })], "z"), null);
});

test("models are filtered, searched and put in order", () => {
    const list = [model("user.Qwen3-8B", 5, { capabilities: ["chat", "tools"] }), model("Nomic-Embed", 0.1, { capabilities: ["embed"] }),
        model("Qwen3-0.6B", 0.4, { loaded: true, checkpoint: "unsloth/Qwen3-0.6B-GGUF:Q4_0" })];
    const ids = (filter) => listed(list, filter).map((m) => m.id);
    assert.deepEqual(ids({}), ["Qwen3-0.6B", "Nomic-Embed", "user.Qwen3-8B"], "loaded ones come first");
    assert.deepEqual(ids({ ability: "tools" }), ["user.Qwen3-8B"]);
    assert.deepEqual(ids({ query: "qwen3 8b" }), ["user.Qwen3-8B"]);
    assert.deepEqual(ids({ query: "unsloth" }), ["Qwen3-0.6B"]);
    assert.deepEqual(ids({ order: "size", fits: (m) => m.size_bytes > 0.2 * GB }), ["Qwen3-0.6B", "user.Qwen3-8B"]);
    assert.equal(matches(list[0], "QWEN3_8b"), true);
    assert.deepEqual(offered(list), ["chat", "tools", "embed"]);
    assert.deepEqual(grouped(list).map((g) => [g.kind, g.models.length]), [["chat", 2], ["embed", 1]]);
    assert.equal(kindOf({ capabilities: [] }), "other");
});

const FIELDS = [{ name: "ctx_size", type: "number", min: 1, max: 16777216, whole: true }, { name: "speculate", type: "bool" },
    { name: "cache_type", type: "string", words: ["f16"] }, { name: "lora", type: "array" }];

test("options: texts and values", () => {
    assert.equal(textOf("ctx_size", -1), "");
    assert.equal(textOf("slots", null), "");
    assert.equal(textOf("speculate", false), "false");
    assert.deepEqual(valueOf(FIELDS[0], "4096"), { value: 4096 });
    assert.deepEqual(valueOf(FIELDS[0], ""), { value: null });
    assert.equal(valueOf(FIELDS[0], "many").error, "models.options.wrong.number");
    assert.equal(valueOf(FIELDS[0], "1.5").error, "models.options.wrong.whole");
    assert.equal(valueOf(FIELDS[0], "0").error, "models.options.wrong.range");
    assert.equal(valueOf(FIELDS[3], "{").error, "models.options.wrong.list");
    assert.deepEqual(valueOf(FIELDS[3], '[{"path":"/a"}]'), { value: [{ path: "/a" }] });
});

test("only changed options are sent", () => {
    const saved = { ctx_size: 4096, speculate: true };
    const { changes, errors } = changesOf(FIELDS, { ctx_size: "4096", speculate: "", cache_type: "q8_0", lora: "x" }, saved);
    assert.deepEqual(changes, { speculate: null, cache_type: "q8_0" });
    assert.deepEqual(Object.keys(errors), ["lora"]);
    assert.deepEqual(changesOf(FIELDS, {}, saved).changes, {});
});
