/* Chats that have what is searched for, each with the places where it stands. */
import { html, useEffect, useState } from "../../lib/html.js";
import { byChat, unmarked } from "../../lib/chat/hits.js";
import { ago } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { ErrorBox } from "../../components/error.js";
import { Loading } from "../../components/loading.js";
import { drawer } from "../../components/shell.js";
import { searchChats } from "../../store/chats.js";

const TYPING_MS = 200;

/* {hits, error}: null while the first search runs. */
function useSearch(text) {
    const [state, setState] = useState({ hits: null, error: null }), [round, setRound] = useState(0);
    useEffect(() => {
        const abort = new AbortController();
        const timer = setTimeout(() => searchChats(text, 30, { signal: abort.signal }).then(
            (hits) => setState({ hits, error: null }),
            (error) => error.name !== "AbortError" && setState({ hits: null, error })), TYPING_MS);
        return () => {
            clearTimeout(timer);
            abort.abort();
        };
    }, [text, round]);
    return { ...state, again: () => setRound(round + 1) };
}

const leave = () => {
    drawer.value = false;
};

const Place = ({ hit }) => html`<a class="found" dir="auto" href=${href("chat", hit.chat, { m: hit.message })} onClick=${leave}>
    ${hit.snippet.map(({ text, mark }, i) => mark ? html`<mark key=${i}>${unmarked(text)}</mark>` : unmarked(text))}</a>`;

const Chat = ({ found: { chat, title, when, places } }) => html`<li>
    <a href=${href("chat", chat, { m: places[0]?.message })} onClick=${leave}><bdi>${title || t("chat.untitled")}</bdi> <small>${ago(when)}</small></a>
    ${places.map((hit) => html`<${Place} key=${hit.message} hit=${hit} />`)}
</li>`;

export function SearchResults({ text }) {
    const { hits, error, again } = useSearch(text);
    if (error)
        return html`<${ErrorBox} error=${error} retry=${again} />`;
    if (!hits)
        return html`<${Loading} />`;
    return html`<p class="visually-hidden" role="status">${t("chat.hits", { n: hits.length })}</p>
        ${hits.length ? html`<ul class="hits">${byChat(hits).map((found) => html`<${Chat} key=${found.chat} found=${found} />`)}</ul>` :
        html`<p class="hint none">${t("chat.no_hits")}</p>`}`;
}
