/* The column at the left: the four views, then what the current view adds (the list of chats),
 * then language, theme and help. On narrow screens a bar at the top with a drawer. */
import { html, signal, useEffect } from "../lib/html.js";
import { LANGUAGES, language, t, useLanguage } from "../lib/i18n.js";
import { href, route } from "../lib/route.js";
import { THEMES, theme } from "../lib/theme.js";
import { IconButton } from "./button.js";
import { Icon } from "./icon.js";
import { Menu } from "./menu.js";
import { addFinder } from "./palette.js";
import { drawer } from "./shell.js";

const VIEWS = [["chat", "chat"], ["models", "box"], ["media", "media"], ["server", "server"]];

/* A component that the current view shows below the links, or null. */
export const aside = signal(null);

function Links() {
    return html`<ul class="nav-links">
        ${VIEWS.map(([view, icon]) => html`<li key=${view}>
            <a href=${href(view)} aria-current=${route.value.view === view ? "page" : undefined}
                onClick=${() => { drawer.value = false; }}>
                <${Icon} name=${icon} /> ${t(`nav.${view}`)}</a></li>`)}
    </ul>`;
}

const languages = () => Object.entries(LANGUAGES).map(([id, name]) => ({
    text: name, checked: language.value === id, run: () => useLanguage(id, { keep: true }),
}));
const themes = () => THEMES.map((id) => ({
    text: t(`theme.${id}`), checked: theme.value === id, run: () => { theme.value = id; },
}));

/* For the palette: languages and themes, found by their name or by the words for language and theme; none without a text. */
function findPreferences(text) {
    const wanted = text.trim().toLowerCase();
    const all = [...languages().map((one) => ({ ...one, icon: "globe", hint: t("nav.language") })),
        ...themes().map((one) => ({ ...one, icon: "contrast", hint: t("nav.theme") }))];
    return wanted ? all.filter((one) => `${one.text} ${one.hint}`.toLowerCase().includes(wanted)) : [];
}

function Preferences({ openHelp, openPalette }) {
    useEffect(() => addFinder(findPreferences), []);
    return html`<div class="nav-foot">
        <${IconButton} icon="search" label=${t("nav.palette")} onClick=${openPalette} />
        <${Menu} icon="globe" label=${t("nav.language")} items=${languages()} />
        <${Menu} icon="contrast" label=${t("nav.theme")} items=${themes()} />
        <${IconButton} icon="help" label=${t("nav.help")} onClick=${openHelp} />
    </div>`;
}

export function Navigation(props) {
    const Aside = aside.value;
    return html`
        <header class="topbar">
            <${IconButton} icon="menu" label=${t("nav.menu")} expanded=${drawer.value}
                onClick=${() => { drawer.value = !drawer.value; }} />
            <a class="brand" href=${href("chat")}>quince</a>
        </header>
        <nav class="nav" aria-label=${t("nav.main")}>
            <a class="brand" href=${href("chat")}><img src="/favicon.svg" alt="" width="24" height="24" /> quince</a>
            <${Links} />
            <div class="nav-aside">${Aside && html`<${Aside} />`}</div>
            <${Preferences} ...${props} />
        </nav>
        <div class="veil" onClick=${() => { drawer.value = false; }}></div>`;
}
