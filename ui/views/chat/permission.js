/* Asks whether a tool call is allowed: once, always, or not. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { Menu } from "../../components/menu.js";
import { toastError } from "../../components/toast.js";

const DECIDED = [404, 409]; /* already decided in another tab, or the answer was stopped: the stream reports it */

/* Moves the focus to the first question. */
export function toPermission(within) {
    const button = within.querySelector(".permission button");
    button?.scrollIntoView({ block: "center" });
    button?.focus();
}

export function Permission({ call, allow }) {
    const [chosen, setChosen] = useState("");
    const decide = async (how) => {
        setChosen(how);
        try {
            await allow(how);
        } catch (error) {
            setChosen("");
            if (!DECIDED.includes(error.status))
                toastError(error);
        }
    };
    const Choice = ({ how, kind }) => html`<${Button} small kind=${kind} busy=${chosen === how} disabled=${chosen !== "" && chosen !== how}
        onClick=${() => decide(how)}>${t(`chat.call.allow.${how}`)}<//>`;
    return html`<div class="permission" role="group" aria-label=${t("chat.call.wants", { tool: call.tool, server: call.server_name })}>
        <div class="row"><${Choice} how="once" kind="primary" /><${Choice} how="always" /><${Choice} how="no" />
            ${!chosen && html`<${Menu} label=${t("chat.call.allow.more")} items=${[{ text: t("chat.call.allow.never"), run: () => decide("never") }]} />`}</div>
        <p class="hint">${t("chat.call.allow.hint", { tool: call.tool })} <a href=${href("server", "mcp", { open: call.server })}>${t("chat.tools.go")}</a></p>
    </div>`;
}
