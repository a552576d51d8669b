/* Asks for the key when the server wants one. */
import { html, useState } from "../lib/html.js";
import { hasKey, locked, setKey } from "../lib/client.js";
import { t } from "../lib/i18n.js";
import { renew } from "../store/session.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import { TextField, Toggle } from "./field.js";

export function KeyDialog() {
    const [text, setText] = useState(""), [keep, setKeep] = useState(true);
    const enter = (event) => {
        event.preventDefault();
        if (!text.trim())
            return;
        setKey(text, keep);
        renew();
    };
    return html`<${Dialog} title=${t("key.title")} close=${() => { locked.value = false; }}>
        <form onSubmit=${enter}>
            <p>${hasKey() ? t("key.wrong") : t("key.why")}</p>
            <${TextField} label=${t("key.key")} type="password" autocomplete="current-password" autofocus
                value=${text} onInput=${setText} hint=${t("key.hint")} />
            <${Toggle} label=${t("key.keep")} checked=${keep} onChange=${setKeep} />
            <${Button} kind="primary" type="submit">${t("key.enter")}<//>
        </form>
    <//>`;
}
