// How programs are connected: what is offered, for which address, and that it works.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { useRig } from "./rig.mjs";

const rig = useRig();

rig.journey("every program has its text to copy", { path: "/app/server/connect" }, async ({ page, t, server, axe }) => {
  await page.getByText(t("server.connect.needs_none")).waitFor();
  await axe();
  const all = page.locator(".programs button");
  assert.ok(await all.count() >= 10);
  for (const button of await all.all()) {
    await button.click();
    await page.getByRole("heading", { level: 2, name: await button.innerText(), exact: true }).waitFor();
    await page.locator(".connect-app").getByText(new URL(server.url).host).first().waitFor();
  }
  await page.reload(); // the choice is in the address
  const chosen = page.locator(".programs button[aria-pressed=true]");
  await chosen.first().waitFor();
  assert.equal(await chosen.count(), 1);
  await page.getByText(t("server.connect.lan"), { exact: true }).click();
  await page.getByText("quince config set host=0.0.0.0").waitFor();
});

rig.journey("the command is copied, and it works", { path: "/app/server/connect?app=curl" }, async ({ page, t }) => {
  await page.getByRole("button", { name: t("snippet.copy").replace("{what}", t("server.connect.command")) }).last().click();
  await page.getByText(t("action.copied")).waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const { stdout } = await promisify(execFile)("sh", ["-c", command]);
  assert.ok(JSON.parse(stdout).choices[0].message.content.length > 0);
});

rig.journey("it is usable in German on a telephone", { path: "/app/server/connect", language: "de", size: "narrow" }, async ({ page, t, axe }) => {
  await page.getByRole("button", { name: t("server.connect.app.claude_code") }).click();
  await page.getByText("ANTHROPIC_BASE_URL").waitFor();
  await axe();
});
