// Downloads: the server does them, whatever happens to the page or to the connection.
import assert from "node:assert/strict";
import { fetchModel, rowOf, useOrchard } from "./orchard.mjs";
import { outside, settled, useRig } from "./rig.mjs";

const orchard = await useOrchard();
const rig = useRig(orchard.options);
const downloads = "/app/models?show=downloads";
const SLOW = 150000; // bytes a second: some 14 s for the 2 MB behind the starter's 6.4 MB, and more with those

const button = (page, t, action, name) => page.getByRole("button", { name: t(`models.job.do.${action}`).replace("{name}", name) });

/** Waits until a download has received something. */
async function begun(server, name) {
  for (;;) {
    const jobs = await server.api("/v1/downloads");
    if (jobs.some((job) => job.id === `model:${name}` && job.cumulative_bytes_downloaded > 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Starts downloads that take their time, one after the other, and ends them in any case. */
async function slowly(server, models, steps) {
  await orchard.rate(SLOW);
  try {
    for (const [i, name] of models.entries()) {
      if (i > 0) await begun(server, models[i - 1]); // otherwise this download could overtake the previous one
      await server.api("/v1/pull", { model_name: name, subscribe: false });
    }
    await steps();
  } finally {
    await orchard.rate(0);
    for (const name of models)
      await server.api("/v1/downloads/control", { id: `model:${name}`, action: "remove" }).catch(() => {});
    for (const name of models)
      await server.api("/v1/delete", { model_name: name }).catch(() => {});
  }
}

rig.journey("a proposal is downloaded, and is then among the models that are here", { path: "/app/models" }, async ({ page, t, server }) => {
  const proposals = page.getByRole("region", { name: t("models.proposals.title") });
  await orchard.rate(2000000);
  await proposals.getByRole("button", { name: /Download 500 MB/ }).click();
  await proposals.getByRole("progressbar").waitFor();
  await page.getByText("Plum-0.5B-GGUF is ready.").waitFor();
  await orchard.rate(0);
  await rowOf(page, "Plum-0.5B-GGUF").getByRole("button", { name: t("models.load.do") }).waitFor();
  await page.getByRole("button", { name: t("models.open") }).click();
  await page.waitForURL("**/app/models/Plum-0.5B-GGUF");
  await server.api("/v1/delete", { model_name: "Plum-0.5B-GGUF" });
});

rig.journey("progress, speed and time; paused over a reload, then resumed", { path: downloads }, async ({ page, t, server, axe }) => {
  await slowly(server, ["Pear-2B-GGUF"], async () => {
    const row = rowOf(page, "Pear-2B-GGUF");
    await row.getByText(/of 8\.4 MB/).waitFor();
    await row.getByText(/B\/s/).waitFor();
    await row.getByText(/left$/).waitFor();
    await axe();
    await button(page, t, "pause", "Pear-2B-GGUF").click();
    await row.getByText(t("models.job.status.paused")).waitFor();
    const { cumulative_bytes_downloaded: here } = (await server.api("/v1/downloads"))[0];
    await page.reload();
    await settled(page);
    await row.getByText(t("models.job.status.paused")).waitFor();
    await orchard.rate(0);
    await button(page, t, "resume", "Pear-2B-GGUF").click();
    await row.getByText(t("models.job.status.completed")).waitFor();
    assert.ok(here > 0, "it had begun before it was paused");
  });
});

rig.journey("another window sees a download begin, and its pause", { path: "/app/models/Melon-4B-GGUF" }, async ({ page, t, server, another }) => {
  const other = await another();
  await other.open(downloads);
  await other.page.getByText(t("models.downloads.none"), { exact: true }).waitFor();
  await slowly(server, [], async () => {
    await page.getByRole("button", { name: /Download 3 GB/ }).click();
    await rowOf(other.page, "Melon-4B-GGUF").getByRole("progressbar").waitFor();
    await button(other.page, t, "pause", "Melon-4B-GGUF").click();
    await page.getByText(t("models.job.status.paused")).waitFor();
    await button(page, t, "cancel", "Melon-4B-GGUF").click();
    await rowOf(other.page, "Melon-4B-GGUF").getByText(t("models.job.status.cancelled")).waitFor();
    await page.getByRole("button", { name: /Download 3 GB/ }).waitFor();
  });
});

rig.journey("downloads change places", { path: downloads }, async ({ page, t, server }) => {
  await server.api("/internal/set", { download_threads: 1 });
  await slowly(server, ["Pear-2B-GGUF", "Plum-0.5B-GGUF"], async () => {
    const names = () => page.locator(".model-row h3").allTextContents();
    await rowOf(page, "Plum-0.5B-GGUF").getByText(/1 is before it/).waitFor();
    assert.deepEqual((await names()).slice(0, 2), ["Pear-2B-GGUF", "Plum-0.5B-GGUF"]);
    await button(page, t, "up", "Plum-0.5B-GGUF").click();
    await rowOf(page, "Pear-2B-GGUF").getByText(/1 is before it/).waitFor();
    assert.deepEqual((await names()).slice(0, 2), ["Plum-0.5B-GGUF", "Pear-2B-GGUF"]);
  });
  await server.api("/internal/set", { download_threads: 3 });
});

rig.journey("a connection that is cut goes on where it was", { path: downloads }, async ({ page, t, server }) => {
  await orchard.fault("Pear-2B-Q4_K_M.gguf", { cut: 3000000, times: 2, host: "files" });
  await server.api("/v1/pull", { model_name: "Pear-2B-GGUF", subscribe: false });
  await rowOf(page, "Pear-2B-GGUF").getByText(t("models.job.status.completed")).waitFor();
  await orchard.heal();
  await server.api("/v1/delete", { model_name: "Pear-2B-GGUF" });
});

rig.journey("a download that fails says why, and is tried again", { path: downloads }, async ({ page, t, server }) => {
  await orchard.fault("Melon-4B-Q4_K_M.gguf", { status: 403 });
  await server.api("/v1/pull", { model_name: "Melon-4B-GGUF", subscribe: false });
  const row = rowOf(page, "Melon-4B-GGUF");
  await row.getByText(t("models.job.status.error")).waitFor();
  await row.locator(".field-error").getByText(/agree to its conditions/).waitFor();
  await orchard.heal();
  await button(page, t, "again", "Melon-4B-GGUF").click();
  await row.getByText(t("models.job.status.completed")).waitFor();
  await page.getByRole("button", { name: t("models.downloads.clear") }).click();
  await row.waitFor({ state: "detached" });
  await server.api("/v1/delete", { model_name: "Melon-4B-GGUF" });
});

rig.journey("a server that is killed goes on with its downloads, and the page with it", { path: downloads, allow: [/ERR_/, /status of 5/] },
  async ({ page, t, server }) => {
    await slowly(server, ["Pear-2B-GGUF"], async () => {
      const row = rowOf(page, "Pear-2B-GGUF");
      await row.getByText(/of 8\.4 MB/).waitFor();
      await server.kill();
      await page.getByText(t("shell.unreachable")).waitFor();
      await server.run();
      await page.getByText(t("shell.unreachable")).waitFor({ state: "detached" });
      await orchard.rate(0);
      await row.getByText(t("models.job.status.completed")).waitFor();
    });
  });

rig.journey("limits of downloads are saved", { path: downloads }, async ({ page, t, server }) => {
  const bandwidth = page.getByLabel(t("models.limits.bandwidth"));
  await bandwidth.fill("2");
  await page.getByRole("button", { name: t("action.save") }).click();
  await page.getByText(t("models.limits.saved")).waitFor();
  assert.equal((await server.api("/internal/config")).bandwidth_limit, 1953); // 2 MB are 1953 KiB
  await page.reload();
  await settled(page);
  assert.equal(await bandwidth.inputValue(), "2");
  await bandwidth.fill("");
  await page.getByRole("button", { name: t("action.save") }).click();
  await page.getByText(t("models.limits.saved")).first().waitFor();
  assert.equal((await server.api("/internal/config")).bandwidth_limit, 0);
});

rig.journey("newer files of a model are found and fetched", { path: null }, async ({ page, t, server, open }) => {
  await fetchModel(server, "Plum-0.5B-GGUF");
  await orchard.release("orchard/Plum-0.5B-GGUF");
  await open("/app/models");
  const row = rowOf(page, "Plum-0.5B-GGUF");
  await page.getByRole("button", { name: t("models.update.check") }).click();
  await row.getByText(t("models.state.update")).waitFor();
  await page.getByText(/1 model has newer files/).waitFor();
  await row.getByRole("button", { name: t("models.more").replace("{name}", "Plum-0.5B-GGUF") }).click();
  await page.getByRole("menuitem", { name: t("models.update.do") }).click();
  await page.getByText("Plum-0.5B-GGUF is ready.").waitFor();
  await row.getByText(t("models.state.update")).waitFor({ state: "detached" });
  await server.api("/v1/delete", { model_name: "Plum-0.5B-GGUF" });
});

rig.journey("downloads on a telephone, in German, dark", { path: downloads, size: "narrow", theme: "dark", language: "de" },
  async ({ page, server, axe }) => {
    await slowly(server, ["Pear-2B-GGUF"], async () => {
      await rowOf(page, "Pear-2B-GGUF").getByRole("progressbar").waitFor();
      await axe();
      assert.deepEqual(await outside(page), []);
    });
  });
