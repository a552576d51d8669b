/* The dialog that makes a key, and then shows its secret, once. */
import { html, useState } from "../../lib/html.js";
import { hasKey, setKey } from "../../lib/client.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { Dialog } from "../../components/dialog.js";
import { ErrorBox } from "../../components/error.js";
import { TextField, Toggle } from "../../components/field.js";
import { copy, Snippet } from "../../components/snippet.js";
import { addKey } from "../../store/server.js";
import { renew } from "../../store/session.js";

function Made({ made, used, lost, close }) {
    return html`<${Dialog} title=${t("server.keys.made", { name: made.name })} close=${close} actions=${html`
        <${Button} icon="copy" onClick=${() => copy(made.key)}>${t("action.copy")}<//>
        <${Button} kind="primary" onClick=${close}>${t("server.keys.kept")}<//>`}>
        <p>${t("server.keys.once")}</p>
        <${Snippet} label=${t("server.keys.secret")} code=${made.key} />
        ${used && html`<p>${t("server.keys.used_here")}</p>`}
        ${lost && html`<p class="notice-box">${t("server.keys.not_taken")}</p>`}
    <//>`;
}

/* keys: those that there are. The first key closes the server to all who have none, this page too: so
 * the page uses it from then on. A reader's own key takes over the reader's chats, and is used here. */
export function NewKey({ keys, close }) {
    const first = !keys.length;
    const [name, setName] = useState(""), [admin, setAdmin] = useState(first);
    const [mine, setMine] = useState(first);
    const [busy, setBusy] = useState(false), [error, setError] = useState(null), [made, setMade] = useState(null);
    const uses = mine || first && !hasKey();
    const create = async (event) => {
        event.preventDefault();
        setBusy(true);
        setError(null);
        try {
            const reply = await addKey(name.trim(), admin, mine);
            if (uses)
                setKey(reply.key, true);
            setMade(reply);
            renew();
        } catch (e) {
            setError(e);
        }
        setBusy(false);
    };
    if (made)
        return html`<${Made} made=${made} used=${uses} lost=${mine && !made.taken_over} close=${close} />`;
    const wrong = error?.details?.param === "name" ? error.message : null;
    return html`<${Dialog} title=${t("server.keys.add")} close=${close}>
        <form onSubmit=${create}>
            <${TextField} label=${t("server.keys.name")} hint=${t("server.keys.name.hint")} value=${name} onInput=${setName} error=${wrong}
                required pattern="[A-Za-z0-9._\\-]+" maxlength="64" autocomplete="off" autofocus />
            <${Toggle} label=${t("server.keys.admin")} hint=${t("server.keys.admin.hint")} checked=${admin} onChange=${setAdmin} />
            <${Toggle} label=${t("server.keys.for_me")} hint=${t("server.keys.for_me.hint")} checked=${mine} onChange=${setMine} />
            ${first && html`<p class="notice-box">${t("server.keys.first")}</p>`}
            ${error && !wrong && html`<${ErrorBox} error=${error} />`}
            <${Button} kind="primary" type="submit" busy=${busy} disabled=${!name.trim()}>${t("server.keys.create")}<//>
        </form>
    <//>`;
}
