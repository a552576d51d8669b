/* Check an exported file against llama.cpp: same tokens for the same text, same greedy
 * answers as evaluate.py gives. Needs `npm install node-llama-cpp` in the folder it is run
 * from, and a file of {"prompt", "ids", "answer"} lines, which verify.py writes:
 *
 *     python3 verify.py MODEL.gguf answers.jsonl && node verify.mjs MODEL.gguf answers.jsonl
 */
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const require = createRequire(process.cwd() + "/");
const entry = require.resolve.paths("node-llama-cpp").map((p) => p + "/node-llama-cpp/dist/index.js")
    .find((p) => { try { readFileSync(p); return true; } catch { return false; } });
if (!entry) {
    console.error("verify.mjs: node-llama-cpp is not installed here; npm install node-llama-cpp");
    process.exit(2);
}
const {getLlama} = await import(pathToFileURL(entry).href);
const [modelPath, casesPath] = process.argv.slice(2);
if (!casesPath) {
    console.error("usage: node verify.mjs MODEL.gguf answers.jsonl");
    process.exit(2);
}
const llama = await getLlama({gpu: false, build: "never"});
const model = await llama.loadModel({modelPath});
const context = await model.createContext({contextSize: 512, threads: 1});
const sequence = context.getSequence();
let tokens = 0, answers = 0, total = 0;
for (const line of readFileSync(casesPath, "utf8").split("\n")) {
    if (!line) continue;
    const c = JSON.parse(line);
    const ids = Array.from(model.tokenize(c.prompt, true), Number);
    const sameIds = JSON.stringify(ids) === JSON.stringify(c.ids);
    await sequence.clearHistory();
    const out = [];
    for await (const t of sequence.evaluate(c.ids, {temperature: 0})) {
        if (t === model.tokens.eos || out.length >= 96) break;
        out.push(t);
    }
    const answer = model.detokenize(out);
    total++;
    tokens += sameIds;
    answers += answer === c.answer;
    if (!sameIds) console.log("tokens differ:", JSON.stringify(c.prompt), ids.join(), c.ids.join());
    if (answer !== c.answer) console.log("answers differ:", JSON.stringify([c.prompt, answer, c.answer]));
}
console.log(`${tokens} of ${total} prompts give the same tokens, ${answers} the same answer`);
process.exit(tokens === total ? 0 : 1);
