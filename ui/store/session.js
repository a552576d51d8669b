/* What the page knows of its server: whether it answers, its version, whether this page is of the
 * same build, and whether it wants a key. */
import { effect, signal } from "../lib/html.js";
import { get, locked, reachable, send } from "../lib/client.js";

const CHECK_MS = 3000;

/* {version, ...} of GET /health; null until it has been read. */
export const server = signal(null);
/* The server has another build of the page than the one that is shown. */
export const outdated = signal(false);
/* Grows when everything should be read again: after a key was entered or the server came back. */
export const epoch = signal(0);

const build = document.querySelector('meta[name="build"]').content;

async function checkBuild() {
    const reply = await send("HEAD", "/app/", undefined, { headers: { Accept: "text/html" } });
    const tag = reply.headers.get("ETag");
    outdated.value = tag !== null && !tag.includes(build);
}

async function check() {
    try {
        server.value = await get("/health");
        await checkBuild();
    } catch {
        /* client.js has noted what it means */
    }
}

export function renew() {
    epoch.value++;
    check();
}

/* Called once. Asks again while the server does not answer, and when the page is seen again. */
export function startSession() {
    check();
    let timer = 0;
    effect(() => {
        clearInterval(timer);
        if (!reachable.value)
            timer = setInterval(async () => {
                await check();
                if (reachable.peek())
                    epoch.value++;
            }, CHECK_MS);
    });
    document.addEventListener("visibilitychange", () => {
        if (document.visibilityState === "visible" && !locked.value)
            check();
    });
}
