/* A request of this page as a program, to be copied: curl, Python, JavaScript. */
import { html, signal } from "../lib/html.js";
import { hasKey } from "../lib/client.js";
import { copyText } from "../lib/clipboard.js";
import { t } from "../lib/i18n.js";
import { SNIPPETS } from "../lib/snippets.js";
import { Button } from "./button.js";
import { toast, toastError } from "./toast.js";

const LANGUAGE = "quince.code";

const saved = localStorage.getItem(LANGUAGE);
const language = signal(saved in SNIPPETS ? saved : Object.keys(SNIPPETS)[0]);

function choose(name) {
    language.value = name;
    localStorage.setItem(LANGUAGE, name);
}

const copy = (code) => copyText(code).then(() => toast(t("action.copied")), toastError);

/* request: as lib/snippets.js has it. */
export function AsCode({ request }) {
    const code = SNIPPETS[language.value](request, { origin: location.origin, key: hasKey() });
    return html`<details class="as-code">
        <summary>${t("code.title")}</summary>
        <div class="row between">
            <div class="choice" role="group" aria-label=${t("code.language")}>
                ${Object.keys(SNIPPETS).map((name) => html`<button key=${name} type="button" aria-pressed=${String(name === language.value)}
                    onClick=${() => choose(name)}>${t(`code.${name}`)}</button>`)}
            </div>
            <${Button} small icon="copy" onClick=${() => copy(code)}>${t("action.copy")}<//>
        </div>
        <pre tabindex="0" role="group" aria-label=${t("code.title")}><code>${code}</code></pre>
        ${hasKey() && html`<p class="hint">${t("code.key")}</p>`}
    </details>`;
}
