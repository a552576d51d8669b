/* How full the model's context is, and with what. */
import { html, useState } from "../../lib/html.js";
import { gauge } from "../../lib/chat/gauge.js";
import { number, percent } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { modelOf } from "../../store/chat_models.js";
import { Popover } from "./popover.js";
import { settingsOf } from "./settings.js";

const FULL = 0.8; /* from this share on, a warning is shown */

/* A ring, filled up to the share. */
const Ring = ({ share }) => html`<svg class=${"ring" + (share >= FULL ? " full" : "")} width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
    <circle cx="10" cy="10" r="8" pathLength="100" /><circle class="part" cx="10" cy="10" r="8" pathLength="100"
        stroke-dasharray=${`${Math.min(100, Math.round(share * 100))} 100`} transform="rotate(-90 10 10)" /></svg>`;

function Details({ parts, used, context }) {
    const all = [...parts, { name: "free", tokens: Math.max(0, context - used) }];
    return html`<div class="gauge">
        <h3>${t("chat.context")}</h3>
        <p>${t("chat.context_used", { used: number(used), context: number(context) })}</p>
        <div class="gauge-bar" aria-hidden="true">${all.map(({ name, tokens }) =>
        html`<i key=${name} class=${name} style=${{ flexGrow: tokens }}></i>`)}</div>
        <dl>${all.map(({ name, tokens }) => html`<div key=${name}><dt><i class=${name} aria-hidden="true"></i>${t(`chat.part.${name}`)}</dt>
            <dd>${number(tokens)}</dd></div>`)}</dl>
        <p class="hint">${t("chat.context_estimate")}</p>
        ${used / context >= FULL && html`<p class="hint">${t("chat.context_full")}</p>`}
    </div>`;
}

export function ContextGauge({ conversation }) {
    const [open, setOpen] = useState(false);
    const { model, system } = settingsOf(conversation);
    const found = gauge(conversation.pathMessages(), system);
    const context = found?.context || modelOf(model)?.context_length || 0;
    if (!found || !context)
        return null;
    const share = found.used / context;
    const button = { label: t("chat.context_share", { share: percent(share) }), children: html`<${Ring} share=${share} />` };
    return html`<${Popover} open=${open} setOpen=${setOpen} button=${button} label=${t("chat.context")}>
        <${Details} ...${found} context=${context} />
    <//>`;
}
