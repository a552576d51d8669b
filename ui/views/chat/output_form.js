/* What an answer has to be: text, any JSON, or JSON of a given schema. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Select, TextField } from "../../components/field.js";

const EXAMPLE = {
    type: "object",
    properties: { name: { type: "string" }, year: { type: "integer" } },
    required: ["name", "year"],
    additionalProperties: false,
};

const schemaOf = (value) => value?.json_schema?.schema;
const format = (schema) => ({ type: "json_schema", json_schema: { name: "answer", schema, strict: true } });

/* {schema} or {error}, of a text. */
function read(text) {
    try {
        const schema = JSON.parse(text);
        return typeof schema === "object" && schema !== null && !Array.isArray(schema) ? { schema } : { error: t("chat.schema_object") };
    } catch (error) {
        return { error: t("chat.schema_wrong", { reason: error.message }) };
    }
}

/* value: a response_format of the API, undefined for text. */
export function OutputForm({ value, onChange }) {
    const [text, setText] = useState(() => JSON.stringify(schemaOf(value) ?? EXAMPLE, null, 2));
    const type = value?.type ?? "text", { error } = read(text);
    const choose = (next) => onChange(next === "text" ? null :
        next === "json_object" ? { type: next } : format(read(text).schema ?? EXAMPLE));
    const typed = (next) => {
        setText(next);
        const { schema } = read(next);
        if (schema)
            onChange(format(schema));
    };
    return html`<${Select} label=${t("chat.output")} value=${type} onChange=${choose}
            options=${["text", "json_object", "json_schema"].map((one) => [one, t(`chat.output.${one}`)])} />
        ${type === "json_schema" && html`<${TextField} label=${t("chat.schema")} rows="10" spellcheck="false" class="mono" value=${text} error=${error}
            hint=${t("chat.schema_hint")} onInput=${typed} />`}`;
}
