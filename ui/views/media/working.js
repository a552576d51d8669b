/* Shown while a request is computed: what happens, for how long, and how to end it; then why it failed. */
import { html, useEffect, useState } from "../../lib/html.js";
import { duration, percent } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { Progress } from "../../components/progress.js";
import { useModelStatus } from "../../store/media_models.js";

/* The time, once a second. */
function useNow() {
    const [now, setNow] = useState(Date.now());
    useEffect(() => {
        const timer = setInterval(() => setNow(Date.now()), 1000);
        return () => clearInterval(timer);
    }, []);
    return now;
}

function phase(status, text) {
    if (status?.status === "queued")
        return t("media.phase.queued");
    if (status?.status === "loading")
        return status.progress > 0 ? t("media.phase.loading_share", { share: percent(status.progress) }) : t("media.phase.loading");
    return text;
}

function Busy({ task, model, text, share }) {
    const status = useModelStatus(model), now = useNow();
    const loading = status?.status === "loading" && status.progress > 0;
    return html`<div class="working">
        <div class="row between">
            <p role="status">${phase(status, text ?? t("media.phase.working"))}</p>
            <span class="hint" aria-hidden="true">${duration(Math.max(0, now - task.state.value.since))}</span>
            <${Button} small icon="stop" onClick=${() => task.stop()}>${t("action.cancel")}<//>
        </div>
        <${Progress} share=${loading ? status.progress : share ?? null} label=${t("media.progress")} />
    </div>`;
}

/* text: what is going on once the model is there; share: how much of it is done, if that is known. */
export function Working({ task, model, text, share }) {
    const { busy, error } = task.state.value;
    if (busy)
        return html`<${Busy} task=${task} model=${model} text=${text} share=${share} />`;
    return error && html`<${ErrorBox} error=${error} retry=${() => task.retry()} />`;
}
