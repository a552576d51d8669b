/* How programs are pointed at this server: addresses, and what each program is told. Pure. */

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|::1)$/;
export const isLoopback = (host) => LOOPBACK.test(host);

/* The URL of a numeric address. */
export const urlOf = (address, port) => `http://${address.includes(":") ? `[${address}]` : address}:${port}`;

/* The addresses by which the server can be reached: [{id, url}], first the one by which the page was
 * opened. status: `server` of GET status or null; location: of the page. */
export function addressesOf(server, { hostname, port, protocol, origin }) {
    const at = server?.port ?? (Number(port) || (protocol === "https:" ? 443 : 80));
    const list = [{ id: "here", url: isLoopback(hostname) ? origin : `http://localhost:${at}` }];
    for (const address of server?.open_to_others ? server.addresses : [])
        list.push({ id: "network", url: urlOf(address, at) });
    if (!isLoopback(hostname) && !list.some((one) => one.url === origin))
        list.push({ id: "page", url: origin });
    return list.sort((a, b) => Number(b.url === origin) - Number(a.url === origin));
}

/* The address of the port for programs made for Ollama; null: it is not served. */
export function ollamaUrl(url, port) {
    if (!port)
        return null;
    const made = new URL(url);
    made.port = String(port);
    return made.origin;
}

const OUTPUT_MAX = 4096, CONTEXT_UNKNOWN = 8192;

/* A context, divided into what is read and what is written. */
function tokens(context) {
    const all = context > 0 ? context : CONTEXT_UNKNOWN, written = Math.min(OUTPUT_MAX, Math.floor(all / 2));
    return { maxInputTokens: all - written, maxOutputTokens: written };
}

/* Texts to copy for each program, from {url, ollama: url or null, model, context: its tokens, key: text,
 * hasKeys}. Each gives parts: [[text key of the part's name, text to copy]]. */
export const PROGRAMS = {
    openai_python: ({ url, model, key }) => [["server.connect.install", "pip install openai"], ["server.connect.code", `from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key="${key}")
reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(reply.choices[0].message.content)`]],
    openai_js: ({ url, model, key }) => [["server.connect.install", "npm install openai"], ["server.connect.code", `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${url}/v1", apiKey: "${key}" });
const reply = await client.chat.completions.create({
    model: "${model}",
    messages: [{ role: "user", content: "Hello!" }],
});
console.log(reply.choices[0].message.content);`]],
    openai_env: ({ url, key }) => [["server.connect.env", `export OPENAI_BASE_URL=${url}/v1
export OPENAI_API_KEY=${key}`]],
    anthropic_python: ({ url, model, key }) => [["server.connect.install", "pip install anthropic"], ["server.connect.code", `from anthropic import Anthropic

client = Anthropic(base_url="${url}", api_key="${key}")
reply = client.messages.create(
    model="${model}",
    max_tokens=500,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(reply.content[0].text)`]],
    claude_code: ({ url, model, key }) => [["server.connect.env", `export ANTHROPIC_BASE_URL=${url}
export ANTHROPIC_AUTH_TOKEN=${key}
export ANTHROPIC_MODEL=${model}`]],
    ollama: ({ url, ollama }) => [["server.connect.env", `export OLLAMA_HOST=${ollama ?? url}`]],
    ollama_python: ({ url, ollama, model }) => [["server.connect.install", "pip install ollama"], ["server.connect.code", `from ollama import Client

client = Client(host="${ollama ?? url}")
reply = client.chat(model="${model}", messages=[{"role": "user", "content": "Hello!"}])
print(reply.message.content)`]],
    open_webui: ({ url, key }) => [["server.connect.address", `${url}/v1`], ["server.connect.key", key],
        ["server.connect.docker", `docker run -d --network=host -e OPENAI_API_BASE_URL=${url}/v1 -e OPENAI_API_KEY=${key} \\
    -v open-webui:/app/backend/data ghcr.io/open-webui/open-webui:main`]],
    continue_dev: ({ url, model, key }) => [["server.connect.file", `name: quince
version: 0.0.1
schema: v1
models:
  - name: ${model}
    provider: openai
    model: ${model}
    apiBase: ${url}/v1
    apiKey: ${key}
    roles: [chat, edit, apply]`]],
    vscode: ({ url, model, key, context }) => [["server.connect.file", JSON.stringify([{
        name: "quince", vendor: "customendpoint", apiKey: key, apiType: "chat-completions",
        models: [{ id: model, name: model, url: `${url}/v1/chat/completions`, toolCalling: true, vision: false, ...tokens(context) }],
    }], null, 2)]],
    curl: ({ url, model, key, hasKeys }) => [["server.connect.command", `curl ${url}/v1/chat/completions \\
${hasKeys ? `    -H "Authorization: Bearer ${key}" \\\n` : ""}    -H 'Content-Type: application/json' \\
    -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello!"}]}'`]],
};

/* The programs by the API that they use. */
export const APIS = {
    openai: ["openai_python", "openai_js", "openai_env", "open_webui", "continue_dev", "vscode", "curl"],
    anthropic: ["anthropic_python", "claude_code"],
    ollama: ["ollama", "ollama_python"],
};
