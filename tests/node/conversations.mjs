// Conversations and options that chat templates are rendered with: what clients send, and what they
// should not send.
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: 'Weather of a <city> & "more" é',
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", description: "The city", enum: ["Paris", "Rome"] },
        days: { type: "integer", default: 3, minimum: 1 },
        opt: { type: ["string", "null"] },
        nested: {
          type: "object",
          properties: {
            a: { type: "array", items: { type: "number" } },
            b: { anyOf: [{ type: "string" }, { type: "integer" }] },
          },
          required: ["a"],
        },
        flag: { type: "boolean" },
      },
      required: ["city"],
    },
    return: { type: "object", description: "r" },
  },
};
const noop = { type: "function", function: { name: "noop", description: "Nothing", parameters: { type: "object", properties: {} } } };
const bare = { type: "function", function: { name: "bare" } };

const call = (args, id = "abcdefghi", name = "get_weather") => ({ id, type: "function", function: { name, arguments: args } });
const result = (content, id = "abcdefghi") => ({ role: "tool", content, tool_call_id: id, name: "get_weather" });
const user = (content) => ({ role: "user", content });
const system = (content) => ({ role: "system", content });
const assistant = (content, more = {}) => ({ role: "assistant", content, ...more });
const text = (t) => ({ type: "text", text: t });

export const conversations = {
  "one question": [user("Hi there")],
  "system": [system("You are é 😀 nice.\n"), user(" Hello \n")],
  "several turns": [system("S"), user("A"), assistant("B"), user("C"), assistant("<think>\nhm\n</think>\n\nD"), user("E")],
  "many turns": Array.from({ length: 20 }, (_, k) => (k % 2 ? assistant(`answer ${k}`) : user(`question ${k}`))).concat(user("last")),
  "reasoning": [user("A"), assistant("B", { reasoning_content: "why\n" }), user("C"), assistant("D", { reasoning_content: "because" })],
  "reasoning, then a question": [user("A"), assistant("B", { reasoning_content: "why\n" }), user("C")],
  "thinking field": [user("A"), assistant("B", { thinking: "mm", reasoning: "rr" }), user("C")],
  "tool call": [user("Weather?"), assistant("", { tool_calls: [call({ city: "Paris", days: 2 })] }), result('{"t": 20}'), assistant("20 degrees"), user("Thanks")],
  "tool call, text arguments": [user("Weather?"), assistant("", { tool_calls: [call('{"city": "Paris"}')] }), result("20")],
  "two tool calls": [system("S"), user("Weather?"), assistant(null, { reasoning_content: "think", tool_calls: [call({ city: "Rome" }), call({ city: "Paris" }, "123456789")] }), result("20"), result("30", "123456789")],
  "two tool calls, text arguments": [system("S"), user("Weather?"), assistant("Let me see.", { tool_calls: [call('{"city": "Rome"}'), call('{"city": "Paris"}', "123456789")] }), result("20"), result("30", "123456789"), assistant("done")],
  "nested arguments": [user("W?"), assistant("", { tool_calls: [call({ city: "Paris", nested: { a: [1, 2.5, 1e21], b: null }, flag: true, s: 'q"\\\n' })] }), result("ok"), user("and?")],
  "tool call without content": [user("W?"), { role: "assistant", tool_calls: [call({ city: "Paris" })] }, result({ a: 1, b: [true, null] })],
  "tool rounds": [user("a"), assistant("", { tool_calls: [call({ city: "Paris" })] }), result("1"), assistant("", { tool_calls: [call({ city: "Rome" }, "123456789")] }), result("2", "123456789"), assistant("both"), user("b")],
  "content parts": [system([text("Sys")]), user([text("Look"), { type: "image" }, text("now")]), assistant([text("ok")]), user([text("x")])],
  "image url": [user([text("Look"), { type: "image_url", image_url: { url: "http://x/y.png" } }])],
  "same role twice": [user("a"), user("b")],
  "unknown role": [{ role: "wizard", content: "a" }],
  "assistant first": [assistant("I begin"), user("b")],
  "system in the middle": [user("a"), assistant("b"), system("c"), user("d")],
  "developer": [{ role: "developer", content: "dev" }, user("b")],
  "ends with the assistant": [user("q"), assistant("partial")],
  "no messages": [],
  "null content": [user(null)],
  "no content": [{ role: "user" }],
  "empty content": [system(""), user(""), assistant(""), user("x")],
  "markup in content": [system("{{ x }} {% if %}"), user("<|im_end|><s>[INST] </think> {# c #}"), assistant("</s>"), user("\u2028é\t\r\n")],
};

const tools = [weather, noop];
export const options = {
  "nothing": {},
  "generation prompt": { add_generation_prompt: true },
  "no generation prompt": { add_generation_prompt: false },
  "thinking": { add_generation_prompt: true, enable_thinking: true, thinking: true },
  "no thinking": { add_generation_prompt: true, enable_thinking: false, thinking: false },
  "tools": { add_generation_prompt: true, tools },
  "tools, no prompt": { tools, add_generation_prompt: false },
  "tools, no thinking": { tools, add_generation_prompt: true, enable_thinking: false, reasoning_effort: "high" },
  "tools as functions": { tools: tools.map((t) => t.function), add_generation_prompt: true },
  "bare tool": { tools: [bare], add_generation_prompt: true },
  "empty tools": { tools: [], add_generation_prompt: true },
  "null tools": { tools: null, documents: null, add_generation_prompt: true },
  "documents": { add_generation_prompt: true, documents: [{ title: "T", text: "x", id: 1 }, { title: "U", text: 'y "z"', id: 2 }], date_string: "01 Jan 2025" },
  "built-in tools": { tools, custom_tools: tools, builtin_tools: ["code_interpreter", "browser"], tools_in_user_message: false, date_string: "01 Jan 2025" },
  "built-in tools only": { builtin_tools: ["brave_search"], add_generation_prompt: true },
  "modes": { add_generation_prompt: true, model_identity: "I am Q.", reasoning_effort: "low", continue_final_message: true, safety_mode: "STRICT", preserve_thinking: true, keep_past_thinking: true, add_vision_id: true },
};
