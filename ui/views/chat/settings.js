/* What a conversation is asked with: model, system prompt, parameters. A chat keeps its own on the
 * server; before its first message they are here. */
import { signal } from "../../lib/html.js";
import { toastError } from "../../components/toast.js";
import { chooseUsual, usualModel } from "../../store/chat_models.js";

const EMPTY = { model: "", system: "", params: {} };

/* The settings of the chat that does not exist yet. */
export const draft = signal(EMPTY);
export const clearDraft = () => {
    draft.value = EMPTY;
};

/* {model, system, params} of a conversation (null: the one that is about to begin); model is never
 * empty while there are models. */
export function settingsOf(conversation) {
    const own = conversation?.chat.value ?? draft.value;
    return { model: own.model || usualModel.value, system: own.system ?? "", params: own.params ?? {} };
}

export function changeSettings(conversation, set) {
    if (set.model)
        chooseUsual(set.model);
    if (conversation)
        conversation.change(set, toastError);
    else
        draft.value = { ...draft.value, ...set };
}

/* What an answer is asked with. */
export function askOf(conversation) {
    const { model, params } = settingsOf(conversation);
    return { model, params };
}
