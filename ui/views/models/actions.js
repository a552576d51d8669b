/* What can be done with a model, with the messages that tell how it went. Failures of loading stay in
 * the store, so that they can be read; others are told as they come. */
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";
import { go, href } from "../../lib/route.js";
import { toast, toastError } from "../../components/toast.js";
import { control, pull } from "../../store/downloads.js";
import * as store from "../../store/models.js";

const names = (name) => ({ name: shownName(name) });

/* Returns the error of a load that failed, else null. */
export async function load(name, options) {
    try {
        const reply = await store.loadModel(name, options);
        const context = reply.ctx_size ? t("models.load.context", { n: reply.ctx_size }) : "";
        toast([t("models.load.done", names(name)), context, ...reply.warnings ?? []].filter(Boolean).join(" "));
        return null;
    } catch (error) {
        return error;
    }
}

async function tell(promise, text, values) {
    try {
        const reply = await promise;
        if (text)
            toast(t(text, values));
        return reply ?? true;
    } catch (error) {
        toastError(error);
        return null;
    }
}

export const unload = (name) => tell(store.unloadModel(name), "models.unload.done", names(name));
export const pin = (name, pinned) => tell(store.setPinned(name, pinned),
    pinned ? "models.pin.on" : "models.pin.off", names(name));
export const update = (name) => tell(pull({ model_name: name }), "models.update.started", names(name));

/* Starts a download and says so, with the way to the list. */
export async function download(order) {
    const job = await tell(pull(order));
    if (job)
        toast(t("models.downloads.started", names(job.model_name ?? order.model_name)), {
            action: { text: t("models.part.downloads"), run: () => go(href("models", { show: "downloads" })) },
        });
    return job;
}

export const controlJob = (id, action) => tell(control(id, action),
    action === "cancel" ? "models.downloads.cancelled" : null);
