/* What is shown in place of something that could not be read: the server's sentence, and a way on. */
import { html } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { Button } from "./button.js";
import { Icon } from "./icon.js";

export function ErrorBox({ error, retry, children }) {
    const text = error.status === 0 ? t("error.unreachable") : error.message;
    const report = error.details?.crash_report ?? error.details?.log;
    return html`<div class="error-box" role="alert">
        <${Icon} name="warning" />
        <div>
            <p>${text}</p>
            ${report && html`<details><summary>${t("error.report")}</summary><pre>${
                typeof report === "string" ? report : JSON.stringify(report, null, 2)}</pre></details>`}
            ${children}
            ${retry && html`<${Button} small icon="retry" onClick=${retry}>${t("action.retry")}<//>`}
        </div>
    </div>`;
}
