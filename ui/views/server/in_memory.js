/* The models in memory, on the way there, or waiting: how busy they are, and what can be done. */
import { html } from "../../lib/html.js";
import { bytes, duration, number, percent } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { Icon } from "../../components/icon.js";
import { Progress } from "../../components/progress.js";
import { toast, toastError } from "../../components/toast.js";
import { busy, setPinned, unloadModel } from "../../store/models.js";
import { isAdmin, readLoad } from "../../store/server.js";

const LOOK = { ready: "good", loading: "warn", draining: "warn", backoff: "bad", queued: "warn" };

async function act(promise, text) {
    try {
        await promise;
        toast(text);
    } catch (error) {
        toastError(error);
    }
    readLoad();
}

/* What is known of a model in memory, as short texts. */
function factsOf(m, speed) {
    const ready = m.status === "ready";
    return [
        ready && bytes(m.resident_bytes ?? m.memory_bytes),
        ready && t("server.memory.context", { n: number(m.max_context_window) }),
        ready && t("server.memory.slots", { n: m.slots, busy: m.requests_running }),
        m.requests_waiting > 0 && t("server.memory.waiting", { n: m.requests_waiting }),
        speed > 0 && t("server.memory.speed", { n: number(speed, 1) }),
        ready && (m.unloads_in_seconds === null ? t("server.memory.stays") : t("server.memory.leaves", { time: duration(m.unloads_in_seconds * 1000) })),
        m.reason,
    ].filter(Boolean);
}

const stateOf = (m) => m.status === "ready" && m.is_busy ? "busy" : m.status;

function Model({ m, speed }) {
    const name = m.model_name;
    const unload = () => act(unloadModel(name), t("server.memory.unloaded", { name }));
    const pin = () => act(setPinned(name, !m.pinned), t(m.pinned ? "server.memory.unpinned" : "server.memory.pinned_now", { name }));
    return html`<li class="server-row">
        <div>
            <h3><a href=${href("models", name)}>${name}</a>
                <span class=${`badge ${LOOK[m.status] ?? ""}`}>${t(`server.memory.state.${stateOf(m)}`)}</span>
                ${m.pinned && html`<span class="badge"><${Icon} name="pin" size="12" /> ${t("server.memory.pinned")}</span>`}</h3>
            <p class="facts-line hint">${factsOf(m, speed).map((fact) => html`<span>${fact}</span>`)}</p>
        </div>
        <div class="row">
            ${isAdmin.value && html`<${Button} small icon="pin" aria-label=${t(m.pinned ? "server.memory.unpin_name" : "server.memory.pin_name", { name })}
                onClick=${pin}>${t(m.pinned ? "server.memory.unpin" : "server.memory.pin")}<//>`}
            <${Button} small icon="eject" busy=${busy.value.has(name)} aria-label=${t("server.memory.unload_name", { name })}
                onClick=${unload}>${t(m.status === "ready" ? "server.memory.unload" : "action.cancel")}<//>
        </div>
        ${m.status === "loading" && html`<${Progress} share=${m.progress > 0 ? m.progress : null}
            label=${t("server.memory.loading", { name, share: percent(m.progress) })} />`}
    </li>`;
}

export function InMemory({ models, stats }) {
    const speedOf = (name) => stats.models.find((m) => m.model_name === name)?.tokens_per_second ?? 0;
    return html`<section><h2>${t("server.memory.title")}</h2>
        ${models.length ? html`<ul class="server-list">${models.map((m) => html`<${Model} key=${m.model_name} m=${m} speed=${speedOf(m.model_name)} />`)}</ul>` :
        html`<${Empty} icon="box" title=${t("server.memory.none")}><p>${t("server.memory.none.why")}</p>
            <${Button} href=${href("models")}>${t("server.memory.none.go")}<//><//>`}
    </section>`;
}
