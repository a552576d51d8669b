/* A search of Hugging Face or ModelScope, and the variants of what is found. */
import { html, useEffect, useState } from "../../lib/html.js";
import { get } from "../../lib/client.js";
import { ago, number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { ErrorBox } from "../../components/error.js";
import { Icon } from "../../components/icon.js";
import { Loading } from "../../components/loading.js";
import { Variants } from "./variants.js";

const WAIT_MS = 500, QUERY_MIN = 3, LIMIT = 20;

/* Waits until nothing has been typed for a moment, since a hub is asked. */
function useSettled(value) {
    const [settled, setSettled] = useState(value);
    useEffect(() => {
        const timer = setTimeout(() => setSettled(value), WAIT_MS);
        return () => clearTimeout(timer);
    }, [value]);
    return settled;
}

function useSearch(query, source) {
    const [state, setState] = useState({ busy: false, data: null, error: null });
    const [again, setAgain] = useState(0);
    const words = useSettled(query.trim());
    useEffect(() => {
        if (words.length < QUERY_MIN) {
            setState({ busy: false, data: null, error: null });
            return undefined;
        }
        const abort = new AbortController();
        setState({ busy: true, data: null, error: null });
        const asked = new URLSearchParams({ query: words, source, limit: LIMIT, format: "gguf" });
        get(`/v1/registry/search?${asked}`, { signal: abort.signal })
            .then((data) => setState({ busy: false, data, error: null }),
                (error) => error.name === "AbortError" || setState({ busy: false, data: null, error }));
        return () => abort.abort();
    }, [words, source, again]);
    return { ...state, retry: () => setAgain(again + 1), words };
}

function Found({ repo }) {
    const [open, setOpen] = useState(false);
    return html`<li class="model-row">
        <details open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
            <summary><span class="model-title">${repo.repository_id}</span>
                ${repo.gated && html` <span class="badge warn"><${Icon} name="key"
                    size="12" /> ${t("models.hub.gated")}</span>`}
                <span class="facts-line hint">
                    ${repo.downloads !== null && html`<span>${t("models.hub.downloads", { n: number(repo.downloads) })}</span>`}
                    ${repo.license && html`<span>${t("models.facts.license", { name: repo.license })}</span>`}
                    ${repo.updated && html`<span>${t("models.hub.updated", { when: ago(Date.parse(repo.updated)) })}</span>`}
                </span></summary>
            ${open && html`<${Variants} checkpoint=${repo.repository_id} source=${repo.source} />`}
        </details>
    </li>`;
}

const SOURCES = ["huggingface", "modelscope"];

export function Hub({ query }) {
    const [source, setSource] = useState(SOURCES[0]);
    const search = useSearch(query, source);
    const results = search.data?.results ?? [];
    return html`<section aria-label=${t("models.hub.title")}>
        <div class="row between"><h2>${t("models.hub.title")}</h2>
            <label class="order"><span>${t("models.hub.source")}</span>
                <select value=${source} onChange=${(e) => setSource(e.currentTarget.value)}>
                    ${SOURCES.map((id) => html`<option value=${id}
                        selected=${id === source}>${t(`models.hub.${id}`)}</option>`)}
                </select></label></div>
        ${search.error && html`<${ErrorBox} error=${search.error} retry=${search.retry} />`}
        ${search.busy && html`<${Loading} text=${t("models.hub.searching")} />`}
        <p class="hint"
            role="status">${search.data ? t("models.hub.found", { n: results.length, words: search.words }) :
        search.busy || search.error ? "" : t("models.hub.hint")}</p>
        <ul class="model-list">${results.map((repo) => html`<${Found} key=${repo.repository_id} repo=${repo} />`)}</ul>
    </section>`;
}
