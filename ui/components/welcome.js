/* A hint at the first visit, until it is closed. */
import { html, signal } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { keyNames } from "../lib/keys.js";
import { href } from "../lib/route.js";
import { Button, IconButton } from "./button.js";

const SEEN = "quince.welcome";

const open = signal(localStorage.getItem(SEEN) === null);

function close() {
    localStorage.setItem(SEEN, "1");
    open.value = false;
}

export function Welcome() {
    if (!open.value)
        return null;
    return html`<aside class="welcome" aria-label=${t("welcome.title")}>
        <p><b>${t("welcome.title")}</b> ${t("welcome.text")} <span class="with-keyboard">${t("welcome.keys", { palette: keyNames("mod+k").join(" ") })}</span></p>
        <${Button} small href=${href("models")} onClick=${close}>${t("welcome.models")}<//>
        <${IconButton} icon="close" label=${t("welcome.close")} onClick=${close} />
    </aside>`;
}
