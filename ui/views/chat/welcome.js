/* What an empty chat shows: a few things to begin with, and where more models are. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { ErrorBox } from "../../components/error.js";
import { toastError } from "../../components/toast.js";
import { chatModels, loadModels, modelsState } from "../../store/chat_models.js";
import { begin } from "./begin.js";

const SUGGESTIONS = ["what", "port", "curl", "models"];
const STARTER = "quince-starter";

export function Welcome() {
    const { data, error } = modelsState.value;
    if (error && !data)
        return html`<${ErrorBox} error=${error} retry=${loadModels} />`;
    if (data && !chatModels.value.length)
        return html`<${Empty} icon="box" title=${t("chat.no_models")}><p>${t("chat.no_models_text")}</p>
            <${Button} kind="primary" href=${href("models")}>${t("chat.get_models")}<//><//>`;
    const alone = chatModels.value.length === 1 && chatModels.value[0].id === STARTER;
    return html`<div class="welcome">
        <img src="/favicon.svg" alt="" width="48" height="48" />
        <h1>${t("chat.welcome")}</h1>
        <p class="hint">${t(alone ? "chat.welcome_starter" : "chat.welcome_text")} <a href=${href("models")}>${t("chat.get_models")}</a></p>
        <ul class="suggestions">${SUGGESTIONS.map((name) => html`<li key=${name}>
            <${Button} disabled=${!chatModels.value.length} onClick=${() => begin({ text: t(`chat.suggest.${name}`), parts: [] }).catch(toastError)}>
                ${t(`chat.suggest.${name}`)}<//></li>`)}</ul>
    </div>`;
}
