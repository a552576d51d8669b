/* What an empty chat shows: a few things to begin with, and, as long as no other model is here than the
 * starter, models that fit this machine. */
import { html, useCallback, useEffect, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { ErrorBox } from "../../components/error.js";
import { toast, toastError } from "../../components/toast.js";
import { chatModels, loadModels, modelsState } from "../../store/chat_models.js";
import { begin } from "./begin.js";
import { changeSettings } from "./settings.js";

const SUGGESTIONS = ["what", "port", "curl", "models"];
const STARTER = "quince-starter";

/* The models view's proposals, loaded when they are shown: most readers have models already. */
function Proposed() {
    const [module, setModule] = useState(null);
    useEffect(() => {
        import("../models/proposals.js").then(setModule, () => {}); /* the link to the models is there, too */
    }, []);
    const completed = useCallback((job) => {
        loadModels();
        toast(t("chat.model_ready", { model: shownName(job.model_name) }), {
            action: { text: t("chat.model_use"), run: () => changeSettings(null, { model: job.model_name }) },
        });
    }, []);
    return module && html`<${module.default} completed=${completed} />`;
}

export function Welcome() {
    const { data, error } = modelsState.value;
    if (error && !data)
        return html`<${ErrorBox} error=${error} retry=${loadModels} />`;
    if (data && !chatModels.value.length)
        return html`<div class="chat-welcome">
            <${Empty} icon="box" title=${t("chat.no_models")}><p>${t("chat.no_models_text")}</p>
                <${Button} kind="primary" href=${href("models")}>${t("chat.get_models")}<//><//>
            <${Proposed} />
        </div>`;
    const alone = chatModels.value.length === 1 && chatModels.value[0].id === STARTER;
    return html`<div class="chat-welcome">
        <img src="/favicon.svg" alt="" width="48" height="48" />
        <h1>${t("chat.welcome")}</h1>
        <p class="hint">${t(alone ? "chat.welcome_starter" : "chat.welcome_text")} <a href=${href("models")}>${t("chat.get_models")}</a></p>
        <ul class="suggestions">${SUGGESTIONS.map((name) => html`<li key=${name}>
            <${Button} disabled=${!chatModels.value.length} onClick=${() => begin({ text: t(`chat.suggest.${name}`), parts: [] }).catch(toastError)}>
                ${t(`chat.suggest.${name}`)}<//></li>`)}</ul>
        ${alone && html`<${Proposed} />`}
    </div>`;
}
