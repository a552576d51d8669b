/* Fills the form from a pasted configuration in the JSON format of other programs, which the documentation of
 * most MCP servers has. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { formOfConfig } from "../../lib/server/mcp.js";
import { TextField } from "../../components/field.js";

/* Calls take(form) with the form's values when the text is a valid configuration. */
export function McpPaste({ take }) {
    const [text, setText] = useState(""), form = formOfConfig(text);
    const typed = (next) => {
        setText(next);
        const read = formOfConfig(next);
        if (read)
            take(read);
    };
    return html`<details class="mcp-paste"><summary>${t("server.mcp.paste")}</summary>
        <${TextField} label=${t("server.mcp.paste.field")} hint=${t(form ? "server.mcp.paste.taken" : "server.mcp.paste.hint")} rows="4" class="mono"
            spellcheck="false" value=${text} onInput=${typed} error=${text.trim() && !form ? t("server.mcp.paste.wrong") : null} />
    </details>`;
}
