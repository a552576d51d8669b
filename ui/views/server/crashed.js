/* Models whose process has ended by itself: what it said, and where to read more. */
import { html } from "../../lib/html.js";
import { dateTime, duration } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";

/* Members that are shown elsewhere or say nothing to a reader. */
const SHOWN = new Set(["model_name", "status", "crash_loop", "crashes", "restart_in_ms", "timestamp", "message"]);

const reportOf = (m) => Object.fromEntries(Object.entries(m).filter(([name]) => !SHOWN.has(name)));

export function Crashed({ models }) {
    if (!models.length)
        return null;
    return html`<section><h2>${t("server.crashed.title")}</h2>
        ${models.map((m) => html`<${ErrorBox} key=${m.model_name} error=${{ status: 500, message: m.message, details: { crash_report: reportOf(m) } }}>
            <p><strong>${m.model_name}</strong> ${t("server.crashed.when", { when: dateTime(Date.parse(m.timestamp)), n: m.crashes })}
                ${m.restart_in_ms > 0 && html` ${t("server.crashed.restart", { time: duration(m.restart_in_ms) })}`}</p>
            <${Button} small icon="list" href=${href("server", "logs", { model: m.model_name })}>${t("server.crashed.log")}<//>
        <//>`)}
    </section>`;
}
