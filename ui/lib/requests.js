/* Sends a request that is a value (lib/snippets.js has its form), so that what is sent and what is
 * shown as code are the same. */
import { send } from "./client.js";
import { InBase64 } from "./snippets.js";

/* The base64 of a file. */
function base64Of(file) {
    return new Promise((done, failed) => {
        const reader = new FileReader();
        reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
        reader.onerror = () => failed(reader.error);
        reader.readAsDataURL(file);
    });
}

async function resolved(value) {
    if (value instanceof InBase64)
        return base64Of(value.file);
    if (Array.isArray(value))
        return Promise.all(value.map(resolved));
    if (typeof value !== "object" || value === null)
        return value;
    return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([key, v]) => [key, await resolved(v)])));
}

function formOf(fields) {
    const form = new FormData();
    for (const [name, value] of fields) {
        if (value instanceof Blob)
            form.append(name, value, value.name);
        else
            form.append(name, String(value));
    }
    return form;
}

/* Resolves with the Response, or rejects with an ApiError. */
export async function sendRequest({ path, json, form }, options) {
    return send("POST", path, form ? formOf(form) : await resolved(json), options);
}

export const sendForJson = async (request, options) => (await sendRequest(request, options)).json();
