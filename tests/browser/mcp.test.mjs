// Tests the page with MCP servers: adding and configuring them, offering them in a chat, and tool calls with and
// without a request for permission.
import assert from "node:assert/strict";
import { after } from "node:test";
import { composer, lastMessage, messages, say } from "./chat_kit.mjs";
import { addProgram, calling, callingForEver, command, removeAll, serve } from "./mcp_kit.mjs";
import { settled } from "./rig.mjs";
import { useStagedRig } from "./staged.mjs";

const rig = useStagedRig();
const servers = [];
after(() => Promise.all(servers.map((one) => one.close())));

async function over(how) {
  const one = await serve(how);
  servers.push(one);
  return one.url;
}

const named = (t, key, name) => t(key).replace("{name}", name);
const card = (page, name) => page.locator(".mcp-server", { has: page.getByRole("heading", { name }) });
const wants = (t, tool, server) => t("chat.call.wants").replace("{tool}", tool).replace("{server}", server);

/** Runs a journey after deleting all MCP servers. */
const journey = (name, how, steps) => rig.journey(name, { path: null, ...how }, async (window) => {
  await removeAll(window.server);
  if (how.at) await window.open(how.at);
  await steps(window);
});

/** Opens a new chat with a model that calls tools, and offers an MCP server in it; returns the id of the server. */
async function chatWith({ page, open, server, t }, name, turns, { mcp = "tools", ...how } = {}) {
  const id = await addProgram(server, mcp, how), model = await rig.model(name, Array.isArray(turns) ? calling(turns) : turns);
  await open(`/app/chat?model=${model}`);
  await page.waitForURL(/app\/chat$/);
  await page.keyboard.press("Alt+s");
  await page.getByRole("switch", { name: mcp }).check();
  await page.getByRole("complementary", { name: t("chat.settings") }).getByRole("button", { name: t("action.close") }).click();
  return id;
}

const permission = (page, t, tool) => page.getByRole("group", { name: wants(t, tool, "tools"), exact: true });
const decide = (page, t, how) => page.locator(".permission").getByRole("button", { name: t(`chat.call.allow.${how}`) }).click();
const call = (page, state) => page.locator(`details.call.${state}`);

journey("the first server: an address with a token", { at: "/app/server/mcp" }, async ({ page, t, axe, server }) => {
  const url = await over({ token: "t0ken" });
  await page.getByRole("heading", { name: t("server.mcp.none") }).waitFor();
  await page.getByRole("button", { name: t("server.mcp.add") }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(t("server.mcp.name"), { exact: true }).fill("sums");
  await dialog.getByLabel(t("server.mcp.url"), { exact: true }).fill(url);
  await axe();
  await dialog.getByRole("button", { name: t("action.save") }).click();
  await dialog.waitFor({ state: "detached" });

  // Without the token the MCP server refuses quince, and the card shows this error.
  await card(page, "sums").locator(".mcp-problem", { hasText: "401" }).waitFor();
  await axe();
  await page.getByRole("button", { name: named(t, "server.mcp.edit_name", "sums") }).click();
  await dialog.getByLabel(t("server.mcp.token"), { exact: true }).fill("t0ken");
  await dialog.getByRole("button", { name: t("action.save") }).click();
  await card(page, "sums").getByText(t("server.mcp.state.ready")).waitFor();

  // The stored token is not shown, and an empty field keeps it.
  await page.getByRole("button", { name: named(t, "server.mcp.edit_name", "sums") }).click();
  await dialog.getByText(t("server.mcp.token.stored")).waitFor();
  assert.equal(await dialog.getByLabel(t("server.mcp.token"), { exact: true }).inputValue(), "");
  await dialog.getByLabel(t("server.mcp.name"), { exact: true }).fill("adder");
  await dialog.getByRole("button", { name: t("action.save") }).click();
  await card(page, "adder").getByText(t("server.mcp.state.ready")).waitFor();

  // The tools of the server and their permissions.
  await card(page, "adder").locator("summary").first().click();
  const add = page.getByRole("combobox", { name: named(t, "server.mcp.permission_of", "add"), exact: true });
  await page.getByText("Adds two numbers").waitFor();
  assert.equal(await add.inputValue(), "ask");
  await axe();
  await add.selectOption("always");
  await page.getByRole("combobox", { name: t("server.mcp.permission_all") }).locator("option:checked", { hasText: t("server.mcp.permission.mixed") }).waitFor({ state: "attached" });
  await page.reload();
  await page.waitForFunction((e) => document.querySelector(`select[aria-label="${e}"]`)?.value === "always", named(t, "server.mcp.permission_of", "add"));
  await page.getByRole("combobox", { name: t("server.mcp.permission_all") }).selectOption("never");
  await page.waitForFunction((e) => document.querySelector(`select[aria-label="${e}"]`)?.value === "never", named(t, "server.mcp.permission_of", "add"));

  await page.getByRole("switch", { name: named(t, "server.mcp.enabled_name", "adder") }).uncheck();
  await card(page, "adder").getByText(t("server.mcp.state.disabled"), { exact: true }).waitFor();
  await page.getByRole("button", { name: named(t, "server.mcp.remove_name", "adder") }).click();
  await page.getByRole("dialog").getByRole("button", { name: t("action.delete") }).click();
  await page.getByRole("heading", { name: t("server.mcp.none") }).waitFor();
  assert.deepEqual((await server.api("/internal/mcp")).servers, []);
});

journey("a program: pasted, refused at the field, with a secret", { at: "/app/server/mcp", allow: [/status of 4/] }, async ({ page, t, axe, server }) => {
  await page.getByRole("button", { name: t("server.mcp.add") }).click();
  const dialog = page.getByRole("dialog"), save = dialog.getByRole("button", { name: t("action.save") });
  await dialog.getByText(t("server.mcp.paste")).click();
  const paste = dialog.getByLabel(t("server.mcp.paste.field"));
  await paste.fill("not JSON");
  await dialog.getByText(t("server.mcp.paste.wrong")).waitFor();
  await paste.fill(JSON.stringify({ mcpServers: { mine: { ...command(), env: { WHO: "s3cret" } } } }));
  await dialog.getByText(t("server.mcp.paste.taken")).waitFor();
  assert.equal(await dialog.getByLabel(t("server.mcp.name"), { exact: true }).inputValue(), "mine");
  await dialog.getByLabel(t("server.mcp.read")).fill("not/absolute");
  await axe();
  await save.click();
  await dialog.locator(".field-error", { hasText: "absolute path" }).waitFor();
  assert.equal(await dialog.getByLabel(t("server.mcp.read")).getAttribute("aria-invalid"), "true");
  await dialog.getByLabel(t("server.mcp.read")).fill("");
  await save.click();
  await card(page, "mine").getByText(t("server.mcp.state.ready")).waitFor();

  await page.getByRole("button", { name: named(t, "server.mcp.edit_name", "mine") }).click();
  await dialog.getByText(t("server.mcp.env.stored")).waitFor();
  assert.equal(await dialog.getByLabel(named(t, "server.mcp.env.value_of", "WHO")).inputValue(), "");
  await dialog.getByRole("button", { name: t("server.mcp.env.add") }).click();
  await dialog.getByLabel(t("server.mcp.env.name")).last().fill("MORE");
  await dialog.getByLabel(named(t, "server.mcp.env.value_of", "MORE")).fill("x");
  await axe();
  await save.click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual((await server.api("/internal/mcp")).servers[0].env, ["WHO", "MORE"]);

  // A change of the command removes the variables, and the form warns of it.
  await page.getByRole("button", { name: named(t, "server.mcp.edit_name", "mine") }).click();
  await dialog.getByLabel(t("server.mcp.args"), { exact: true }).fill("other");
  await dialog.getByText(t("server.mcp.forgets.args")).waitFor();
  await dialog.getByLabel(t("server.mcp.command"), { exact: true }).fill("/bin/true");
  await dialog.getByText(t("server.mcp.forgets.stdio")).waitFor();
  await axe();
  await save.click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual((await server.api("/internal/mcp")).servers[0].env, []);

  // A second server of the same name is refused.
  await page.getByRole("button", { name: t("server.mcp.add") }).click();
  await dialog.getByLabel(t("server.mcp.name"), { exact: true }).fill("mine");
  await dialog.getByLabel(t("server.mcp.url"), { exact: true }).fill("http://127.0.0.1:1/mcp");
  await save.click();
  await dialog.locator(".field-error", { hasText: "mine" }).waitFor();
});

journey("without admin rights: no programs, and the reason", { allow: [/status of 40[13]/] }, async ({ page, t, axe, server }) => {
  const id = await addProgram(server, "mine");
  const { key: admin } = await server.api("/internal/keys", { name: "boss", admin: true });
  const { key } = await server.api("/internal/keys", { name: "phone", admin: false }, { key: admin });
  try {
    await page.goto("/app/server/mcp");
    await page.getByLabel(t("key.key"), { exact: true }).fill(key);
    await page.getByRole("button", { name: t("key.enter") }).click();
    await page.getByRole("heading", { name: t("server.mcp.none") }).waitFor();
    await page.getByRole("button", { name: t("server.mcp.add") }).click();
    const dialog = page.getByRole("dialog"), save = dialog.getByRole("button", { name: t("action.save") });
    await dialog.getByText(t("server.mcp.url.public")).waitFor();
    await dialog.getByRole("button", { name: t("server.mcp.kind.stdio") }).click();
    await dialog.getByText(t("server.mcp.barred")).waitFor();
    assert.ok(await save.isDisabled());
    await axe();
    await dialog.getByRole("button", { name: t("server.mcp.kind.http") }).click();
    await dialog.getByLabel(t("server.mcp.name"), { exact: true }).fill("inside");
    await dialog.getByLabel(t("server.mcp.url"), { exact: true }).fill("http://127.0.0.1:1/mcp");
    await save.click();
    await card(page, "inside").locator(".mcp-problem").waitFor();
    await page.getByRole("button", { name: named(t, "server.mcp.remove_name", "inside") }).click();
    await dialog.getByRole("button", { name: t("action.delete") }).click();
    await page.getByRole("heading", { name: t("server.mcp.none") }).waitFor();
  } finally {
    await server.api("/internal/keys/phone", null, { method: "DELETE", key: admin });
    await server.api("/internal/keys/boss", null, { method: "DELETE", key: admin });
  }
  assert.equal((await server.api("/internal/mcp")).servers[0].id, id, "each owner has its own");
});

journey("a server that fails tells why", { at: "/app/server/mcp" }, async (window) => {
  const { page, t, server, open } = window;
  await addProgram(server, "broken", { mode: "die" });
  await page.getByRole("button", { name: named(t, "server.mcp.refresh_name", "broken") }).click();
  await card(page, "broken").locator(".mcp-problem", { hasText: "ended with status 5: no licence" }).waitFor();
  const model = await rig.model("five", { tokens: 5, word: "word " });
  await open(`/app/chat?model=${model}`);
  await page.waitForURL(/app\/chat$/);
  await page.keyboard.press("Alt+s");
  await page.locator(".offered .hint", { hasText: "no licence" }).waitFor();
  await page.getByRole("switch", { name: "broken" }).check();
  await say(page, "hello");
  await lastMessage(page).locator(".not-offered", { hasText: "broken" }).waitFor();
  await lastMessage(page).getByText("word word").waitFor(); // the answer is made without the tools
});

journey("a question, allowed once by keyboard; the answer goes on", {}, async (window) => {
  const { page, t, axe } = window;
  await chatWith(window, "adder", [[["tools__add", { a: 1, b: 2 }]]]);
  await page.locator(".offered-mark", { hasText: "1" }).waitFor();
  await say(page, "what is 1 + 2?");
  await permission(page, t, "add").waitFor();
  await page.locator("details.call[open] pre", { hasText: '"b": 2' }).waitFor();
  await page.locator("[role=alert]", { hasText: wants(t, "add", "tools") }).waitFor({ state: "attached" });
  await axe();
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  await axe();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  await page.keyboard.press("Alt+p");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), t("chat.call.allow.once"));
  await page.keyboard.press("Enter");
  await lastMessage(page).locator(".md", { hasText: "It is 3" }).waitFor();
  assert.equal(await page.locator(".permission").count(), 0);
  await call(page, "done").locator("summary").click();
  await call(page, "done").locator("pre", { hasText: /^3$/ }).waitFor();
  await axe();
  assert.equal(await messages(page).count(), 3);
  const said = await page.locator(".thread-scroll [aria-live=polite]").innerText();
  assert.ok(said.includes(t("chat.answer_ends")), said);
  await page.reload(); // everything is stored on the server
  await call(page, "done").waitFor();
  await lastMessage(page).locator(".md", { hasText: "It is 3" }).waitFor();
});

journey("always: the next call is not asked about", {}, async (window) => {
  const { page, t, server } = window;
  const id = await chatWith(window, "twice", [[["tools__add", { a: 1, b: 1 }]], [["tools__add", { a: 2, b: 2 }]]]);
  await say(page, "count");
  await permission(page, t, "add").waitFor();
  await decide(page, t, "always");
  await lastMessage(page).locator(".md", { hasText: "It is 2" }).waitFor();
  assert.equal(await call(page, "done").count(), 2);
  assert.deepEqual((await server.api(`/internal/mcp/${id}`)).permissions, { add: "always" });
  await page.goto(`/app/server/mcp?open=${id}`);
  await settled(page);
  assert.equal(await page.getByRole("combobox", { name: named(t, "server.mcp.permission_of", "add"), exact: true }).inputValue(), "always");
});

journey("never: in the menu of the question, for all calls of the tool", {}, async (window) => {
  const { page, t, server, axe } = window;
  const id = await chatWith(window, "never", [[["tools__add", { a: 1, b: 2 }]]]);
  await say(page, "what is 1 + 2?");
  await permission(page, t, "add").waitFor();
  await page.locator(".permission").getByRole("button", { name: t("chat.call.allow.more") }).click();
  await axe();
  await page.getByRole("menuitem", { name: t("chat.call.allow.never") }).click();
  await call(page, "denied").waitFor();
  assert.deepEqual((await server.api(`/internal/mcp/${id}`)).permissions, { add: "never" });
});

journey("a question is seen in the list of chats, and in the title of the window", {}, async (window) => {
  const { page, t, axe } = window;
  await chatWith(window, "marked", [[["tools__add", { a: 1, b: 2 }]]]);
  await say(page, "what is 1 + 2?");
  await permission(page, t, "add").waitFor();
  const mark = page.getByRole("img", { name: t("chat.is_asking") }), asks = t("chat.title_asking").replace("{title}", "");
  await mark.waitFor();
  await page.waitForFunction((text) => document.title.startsWith(text), asks);
  await axe();
  await page.goto("/app/chat");
  await mark.waitFor();
  assert.ok(!(await page.title()).startsWith(asks), "only of the chat that is shown");
  await page.goBack();
  await decide(page, t, "once");
  await lastMessage(page).locator(".md", { hasText: "It is 3" }).waitFor();
  await mark.waitFor({ state: "detached" });
  assert.ok(!(await page.title()).startsWith(asks));
});

journey("refused: the model is told, and answers", {}, async (window) => {
  const { page, t } = window;
  await chatWith(window, "refused", [[["tools__add", { a: 1, b: 2 }]]]);
  await say(page, "what is 1 + 2?");
  await permission(page, t, "add").waitFor();
  await decide(page, t, "no");
  await call(page, "denied").waitFor();
  await lastMessage(page).locator(".md", { hasText: "did not allow" }).waitFor();
  await page.locator("summary .badge", { hasText: t("chat.call.denied") }).waitFor();
});

journey("a question is found again: after a reload, and in a second tab that decides", {}, async (window) => {
  const { page, t, another } = window;
  await chatWith(window, "patient", [[["tools__add", { a: 3, b: 4 }]]]);
  await say(page, "what is 3 + 4?");
  await permission(page, t, "add").waitFor();
  await page.reload();
  await permission(page, t, "add").waitFor();
  const other = await another();
  await other.open(new URL(page.url()).pathname);
  await permission(other.page, t, "add").waitFor();
  await decide(other.page, t, "once");
  for (const one of [page, other.page]) {
    await lastMessage(one).locator(".md", { hasText: "It is 7" }).waitFor();
    assert.equal(await one.locator(".permission").count(), 0);
    assert.equal(await messages(one).count(), 3);
  }
});

journey("stopped while a tool runs, and while a question waits", {}, async (window) => {
  const { page, t } = window;
  await chatWith(window, "slow", [[["tools__hang", {}], ["tools__add", { a: 1, b: 2 }]]], { permissions: { hang: "always" } });
  const stop = page.getByRole("button", { name: t("chat.stop"), exact: true });
  await say(page, "wait");
  await call(page, "running").waitFor();
  await call(page, "running").getByText(new RegExp(`${t("chat.call.running")} +[1-9]`)).waitFor();
  await permission(page, t, "add").waitFor();
  await stop.click();
  await call(page, "stopped").nth(1).waitFor();
  assert.equal(await page.locator(".permission").count(), 0);
  await page.getByText(t("chat.ended.stopped")).waitFor();
  await lastMessage(page).locator(".end-note").getByRole("button", { name: t("chat.retry") }).click();
  await call(page, "running").waitFor();
  await page.keyboard.press("Escape");
  await call(page, "stopped").nth(1).waitFor();
  assert.ok(await composer(page).isEnabled());
});

journey("a tool that fails, and text that looks like markup", {}, async (window) => {
  const { page } = window;
  await chatWith(window, "fails", [[["tools__fail", {}], ["tools__echo", { html: "<img src=x onerror=alert(1)>" }], ["tools__nothing", {}]]],
    { permissions: { fail: "always", echo: "always" } });
  await say(page, "try");
  await lastMessage(page).locator(".md", { hasText: "went wrong" }).waitFor();
  assert.equal(await call(page, "failed").count(), 2);
  await call(page, "failed").first().locator("summary").click();
  await call(page, "failed").first().locator("pre", { hasText: "it went wrong" }).waitFor();
  await call(page, "done").locator("summary").click();
  await call(page, "done").locator("pre", { hasText: "onerror" }).first().waitFor();
  assert.equal(await page.locator(".call img").count(), 0);
});

journey("a model that never ends calling is stopped, and may go on", {}, async (window) => {
  const { page, t } = window;
  await chatWith(window, "endless", callingForEver(["tools__add", { a: 1, b: 1 }]), { permissions: { add: "always" } });
  await say(page, "go");
  await page.getByText(t("chat.ended.rounds")).waitFor();
  assert.equal(await messages(page).count(), 11);
  assert.equal(await call(page, "done").count(), 9);
  await page.locator(".end-note").getByRole("button", { name: t("chat.continue") }).click();
  await page.waitForFunction(() => document.querySelectorAll("article.message").length > 11);
  await page.keyboard.press("Escape");
});

journey("a preset keeps the servers; the parameters' reset leaves them", {}, async (window) => {
  const { page, t } = window;
  await chatWith(window, "preset", [[["tools__add", { a: 1, b: 2 }]]]);
  await page.keyboard.press("Alt+s");
  const chosen = page.getByRole("switch", { name: "tools" }), temperature = page.getByRole("spinbutton", { name: t("chat.param.temperature") });
  await temperature.fill("0.5");
  await page.getByRole("button", { name: t("chat.preset.save") }).click();
  await page.getByRole("textbox", { name: t("chat.preset.name") }).fill("Reckoner");
  await page.keyboard.press("Enter");
  await page.locator(".toast", { hasText: "Reckoner" }).waitFor();
  await page.getByRole("button", { name: t("chat.params_reset") }).click();
  assert.deepEqual([await chosen.isChecked(), await temperature.inputValue()], [true, ""]);
  await chosen.uncheck();
  await page.getByRole("combobox", { name: t("chat.preset"), exact: true }).selectOption({ label: "Reckoner" });
  assert.ok(await chosen.isChecked());
});

journey("in German, on a telephone", { language: "de", size: "narrow" }, async (window) => {
  const { page, t, axe } = window;
  await chatWith(window, "deutsch", [[["tools__add", { a: 1, b: 2 }]]]);
  await say(page, "was ist 1 + 2?");
  await permission(page, t, "add").waitFor();
  await axe();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  await decide(page, t, "once");
  await lastMessage(page).locator(".md", { hasText: "3" }).waitFor();
});
