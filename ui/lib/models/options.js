/* Load options of a model: the form's values and the changes to send. Pure.
 *
 * A field is what the server says of an option in GET models/{id}/options: {name, type: "bool"|"number"|
 * "string"|"array", min, max, whole, words, admin}. */

/* Options that the page sets in another place. */
const ELSEWHERE = ["pinned"];

/* Options that few people need, shown when asked for. */
const RARE = ["context_shift", "rope_scaling", "lora", "weight_cache", "prefix_cache", "llamacpp_args", "whispercpp_args",
    "sdcpp_args", "max_concurrent", "max_queue", "auto_evict", "evict_idle_timeout", "evict_weight_factor"];

export const shownFields = (fields) => fields.filter((f) => !ELSEWHERE.includes(f.name));
export const isRare = (field) => RARE.includes(field.name);

/* Whether an option's value is the server's own choice: it is not saved and has no default. */
export const isAutomatic = (name, value) => value === null || value === undefined || (name === "ctx_size" && value < 0);

/* The text of a value in a form; "" for the automatic one. */
export function textOf(name, value) {
    if (isAutomatic(name, value))
        return "";
    return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

/* The value that a form's text stands for: {value} or {error: key of a text}. An empty text: null,
 * which removes the option. */
export function valueOf(field, text) {
    const given = text.trim();
    if (given === "")
        return { value: null };
    if (field.type === "number") {
        const number = Number(given.replace(",", "."));
        if (!Number.isFinite(number))
            return { error: "models.options.wrong.number" };
        if (field.whole && !Number.isInteger(number))
            return { error: "models.options.wrong.whole" };
        if (field.max > field.min && (number < field.min || number > field.max))
            return { error: "models.options.wrong.range", values: { min: field.min, max: field.max } };
        return { value: number };
    }
    if (field.type === "bool")
        return { value: given === "true" };
    if (field.type === "array") {
        try {
            const value = JSON.parse(given);
            return Array.isArray(value) ? { value } : { error: "models.options.wrong.list" };
        } catch {
            return { error: "models.options.wrong.list" };
        }
    }
    return { value: given };
}

/* texts: {name: text} as edited. saved: the options that are saved. Returns {changes, errors}: changes
 * for POST models/{id}/options (null removes an option), errors {name: {error, values}}. */
export function changesOf(fields, texts, saved) {
    const changes = {}, errors = {};
    for (const field of fields) {
        if (!(field.name in texts))
            continue;
        const { value, error, values } = valueOf(field, texts[field.name]);
        if (error)
            errors[field.name] = { error, values };
        else if (JSON.stringify(value) !== JSON.stringify(saved[field.name] ?? null))
            changes[field.name] = value;
    }
    return { changes, errors };
}
