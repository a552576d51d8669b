/* The frame of the page: navigation, notices about the server, the view, dialogs and messages. */
import { html, signal, useEffect, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { locked, reachable } from "../lib/client.js";
import { focusHeading } from "../lib/focus.js";
import { t } from "../lib/i18n.js";
import { useKeys } from "../lib/keys.js";
import { go, href, route } from "../lib/route.js";
import { outdated } from "../store/session.js";
import { Button } from "./button.js";
import { ErrorBox } from "./error.js";
import { KeyDialog } from "./key_dialog.js";
import { KeysHelp } from "./keys_help.js";
import { Later, useLater } from "./later.js";
import { Navigation } from "./navigation.js";
import { Palette } from "./palette.js";
import { Toasts } from "./toast.js";
import { Welcome } from "./welcome.js";

const VIEWS = {
    chat: new Later(() => import("../views/chat/index.js")),
    models: new Later(() => import("../views/models/index.js")),
    media: new Later(() => import("../views/media/index.js")),
    server: new Later(() => import("../views/server/index.js")),
};

/* Whether the navigation is open where it is a drawer. */
export const drawer = signal(false);

function Notices() {
    if (outdated.value)
        return html`<div class="notice" role="status">
            ${t("shell.outdated")} <${Button} small onClick=${() => location.reload()}>${t("shell.reload")}<//>
        </div>`;
    if (!reachable.value)
        return html`<div class="notice warn" role="status">${t("shell.unreachable")}</div>`;
    return null;
}

/* Returns the view that the address names; "chat" if there is no such view. */
const nameOf = (view) => Object.hasOwn(VIEWS, view) ? view : "chat";

/* Called once, before the shell is rendered, so that the first view is loaded in parallel with the texts. */
export function startView() {
    VIEWS[nameOf(route.value.view)].ahead();
}

/* The view of the current address; its code is loaded at its first use. Meanwhile nothing is shown:
 * the previous view, still on screen, would read the new address as one of its own. */
function View() {
    const name = nameOf(route.value.view);
    const { module, error } = useLater(VIEWS[name]);
    const shown = module && name, before = useRef(null);
    useLayoutEffect(() => { /* before the view, which may name what it shows */
        document.title = `${t(`nav.${name}`)} – quince`;
    }, [name]);
    useEffect(() => {
        if (shown && before.current && before.current !== shown)
            focusHeading();
        before.current = shown || before.current;
    }, [shown]);
    if (error)
        return html`<${ErrorBox} error=${error} retry=${() => location.reload()} />`;
    return module && html`<${module.default} key=${name} />`;
}

export function Shell() {
    const [help, setHelp] = useState(false);
    const [palette, setPalette] = useState(false);
    useKeys([
        { keys: "?", text: "keys.help", group: "page", run: () => setHelp(true) },
        { keys: "mod+k", text: "keys.palette", group: "page", run: () => setPalette(true) },
        { keys: "alt+1", text: "nav.chat", group: "page", run: () => go(href("chat")) },
        { keys: "alt+2", text: "nav.models", group: "page", run: () => go(href("models")) },
        { keys: "alt+3", text: "nav.media", group: "page", run: () => go(href("media")) },
        { keys: "alt+4", text: "nav.server", group: "page", run: () => go(href("server")) },
    ]);
    return html`
        <a class="skip" href="#main">${t("shell.skip")}</a>
        <div class=${"shell" + (drawer.value ? " open" : "")}>
            <${Navigation} openHelp=${() => setHelp(true)} openPalette=${() => setPalette(true)} />
            <div class="page">
                <${Notices} />
                <${Welcome} />
                <main id="main" tabindex="-1"><${View} /></main>
            </div>
        </div>
        <${Toasts} />
        ${locked.value && html`<${KeyDialog} />`}
        ${help && html`<${KeysHelp} close=${() => setHelp(false)} />`}
        ${palette && html`<${Palette} close=${() => setPalette(false)} />`}`;
}
