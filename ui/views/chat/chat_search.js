/* Chats and messages that have what is searched for, with the place where it stands. */
import { html, useEffect, useState } from "../../lib/html.js";
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

const Hit = ({ hit }) => html`<li><a href=${href("chat", hit.chat, { m: hit.message })} onClick=${() => { drawer.value = false; }}>
    <bdi>${hit.title || t("chat.untitled")}</bdi> <small>${ago(hit.when)}</small>
    ${hit.message && html`<p class="found" dir="auto">${hit.snippet.map((part, i) => part.mark ? html`<mark key=${i}>${part.text}</mark>` : part.text)}</p>`}
</a></li>`;

export function SearchResults({ text }) {
    const { hits, error, again } = useSearch(text);
    if (error)
        return html`<${ErrorBox} error=${error} retry=${again} />`;
    if (!hits)
        return html`<${Loading} />`;
    return html`<p class="visually-hidden" role="status">${t("chat.hits", { n: hits.length })}</p>
        ${hits.length ? html`<ul class="hits">${hits.map((hit, i) => html`<${Hit} key=${i} hit=${hit} />`)}</ul>` :
        html`<p class="hint none">${t("chat.no_hits")}</p>`}`;
}
