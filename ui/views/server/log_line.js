/* A whole line of the log, with what can be done with it. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { requestOf } from "../../lib/server/log_buffer.js";
import { Button, IconButton } from "../../components/button.js";
import { copy } from "../../components/snippet.js";

export function LogLine({ line, close }) {
    const request = requestOf(line), address = href("server", "logs", { line: line.id });
    return html`<section class="card log-line" aria-label=${t("server.logs.line")}>
        <pre tabindex="0" role="group" aria-label=${t("server.logs.line")}><code>${line.whole}</code></pre>
        <div class="row">
            <${Button} small icon="copy" onClick=${() => copy(line.whole)}>${t("server.logs.copy_line")}<//>
            <${Button} small icon="link" onClick=${() => copy(location.origin + address)}>${t("server.logs.copy_link")}<//>
            ${request && html`<${Button} small icon="right" href=${href("server", "requests", { id: request })}>${t("server.logs.request")}<//>`}
            <${IconButton} icon="close" label=${t("action.close")} onClick=${close} />
        </div>
    </section>`;
}
