/* The page's address. Everything that can be shown has one: /app/VIEW/REST?QUERY. `route` is a
 * signal of {view, rest, query}; links are ordinary <a href>, whose clicks are handled here. */
import { signal } from "./html.js";

const BASE = "/app/";
const FIRST_VIEW = "chat";

function parse(location) {
    const path = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : "";
    const [view, ...rest] = path.split("/").filter(Boolean).map(decodeURIComponent);
    return {
        view: view || FIRST_VIEW,
        rest,
        query: new URLSearchParams(location.search),
        hash: location.hash.slice(1),
    };
}

export const route = signal(parse(window.location));

/* The address of a view: href("chat", id) or href("server", "logs", {q: "error"}). */
export function href(view, ...parts) {
    const query = typeof parts.at(-1) === "object" ? parts.pop() : null;
    const path = BASE + [view, ...parts].filter((p) => p !== undefined && p !== "")
        .map(encodeURIComponent).join("/");
    const given = query && Object.entries(query).filter(([, v]) => v !== "" && v != null);
    return given && given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

/* Goes to an address of the page. replace: without a new entry in the history, for addresses that
 * follow what is typed. */
export function go(address, { replace = false } = {}) {
    if (address === window.location.pathname + window.location.search)
        return;
    window.history[replace ? "replaceState" : "pushState"](null, "", address);
    route.value = parse(window.location);
    if (!replace)
        window.scrollTo(0, 0);
}

function clicked(event) {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey ||
        event.shiftKey || event.altKey || link.target || link.hasAttribute("download"))
        return;
    const url = new URL(link.href);
    if (url.origin !== window.location.origin || !url.pathname.startsWith(BASE))
        return;
    event.preventDefault();
    go(url.pathname + url.search);
}

/* Called once, at the start. */
export function startRouting() {
    if (!window.location.pathname.startsWith(BASE))
        window.history.replaceState(null, "", href(FIRST_VIEW));
    route.value = parse(window.location);
    window.addEventListener("popstate", () => {
        route.value = parse(window.location);
    });
    document.addEventListener("click", clicked);
}
