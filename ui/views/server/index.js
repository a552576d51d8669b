/* The server view: present and past activity of the server, its log, settings, keys, engines, MCP tools, and
 * how to connect programs to it. Each part has an address: /app/server/PART. */
import { html, useEffect } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { go, href, route } from "../../lib/route.js";
import { useStyles } from "../../lib/styles.js";
import { useTitle } from "../../lib/title.js";
import { addFinder } from "../../components/palette.js";
import { Tabs } from "../../components/tabs.js";
import { useStatus } from "../../store/server.js";
import { Connect } from "./connect.js";
import { Engines } from "./engines.js";
import { Keys } from "./keys.js";
import { Logs } from "./logs.js";
import { Mcp } from "./mcp.js";
import { Overview } from "./overview.js";
import { Requests } from "./requests.js";
import { Settings } from "./settings.js";

await useStyles("server");

const PARTS = { overview: Overview, requests: Requests, logs: Logs, settings: Settings, keys: Keys, engines: Engines, mcp: Mcp, connect: Connect };

const address = (part) => href("server", part === "overview" ? "" : part);

/* The parts, in the palette. */
function usePartFinder() {
    useEffect(() => addFinder((text) => Object.keys(PARTS)
        .map((part) => ({ text: t(`server.part.${part}`), hint: t("nav.server"), icon: "server", run: () => go(address(part)) }))
        .filter((one) => one.text.toLowerCase().includes(text.toLowerCase()))), []);
}

export default function View() {
    useStatus();
    usePartFinder();
    const asked = route.value.rest[0];
    const part = Object.hasOwn(PARTS, asked) ? asked : "overview";
    useTitle(part === "overview" ? t("nav.server") : t(`server.part.${part}`));
    const Part = PARTS[part];
    return html`<div class=${`document server server-${part}`}>
        <h1>${t("nav.server")}</h1>
        <${Tabs} label=${t("server.parts")} items=${Object.keys(PARTS).map((one) => ({
            href: address(one), text: t(`server.part.${one}`), current: one === part,
        }))} />
        <${Part} key=${part} />
    </div>`;
}
