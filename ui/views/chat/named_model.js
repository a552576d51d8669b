/* The address may name the model of a new chat: /app/chat?model=NAME, as the models view links it. */
import { useEffect } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";
import { go, href, route } from "../../lib/route.js";
import { toast } from "../../components/toast.js";
import { chatModels, loadModels, modelsState } from "../../store/chat_models.js";
import { changeSettings } from "./settings.js";

/* Takes the model for the chat that is about to begin, and its name out of the address. */
async function take(name) {
    await loadModels(); /* it may have been added since the list was read */
    if (modelsState.peek().error)
        return;
    if (chatModels.peek().some((m) => m.id === name))
        changeSettings(null, { model: name });
    else
        toast(t("chat.model_not_here", { model: shownName(name) }), { error: true });
    if (route.peek().query.get("model") === name)
        go(href("chat"), { replace: true });
}

export function useNamedModel(id) {
    const name = id ? null : route.value.query.get("model");
    useEffect(() => {
        if (name)
            take(name);
    }, [name]);
}
