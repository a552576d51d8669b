/* Adding models: from an address or a hub's name, from a file on the server's disk, from other
 * programs' folders, from a server elsewhere. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";
import { go, href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { Select, TextField } from "../../components/field.js";
import { toast } from "../../components/toast.js";
import { pull } from "../../store/downloads.js";
import { registerModel, rescan } from "../../store/models.js";
import { Variants } from "./variants.js";

/* Fields by name; send(values) may fail with an error that names a field in details.param. */
function useForm(first, send) {
    const [values, setValues] = useState(first), [error, setError] = useState(null), [busy, setBusy] = useState(false);
    const submit = async (event) => {
        event.preventDefault();
        setBusy(true);
        setError(null);
        try {
            await send(Object.fromEntries(Object.entries(values).map(([k, v]) => [k, v.trim()])));
        } catch (e) {
            setError(e);
        }
        setBusy(false);
    };
    const param = error?.details?.param;
    const field = (name) => ({
        value: values[name], onInput: (text) => setValues({ ...values, [name]: text }),
        error: param && param === name ? error.message : null,
    });
    return { values, submit, busy, field, error: error && !(param in first) ? error : null };
}

/* A model's own name begins with "user."; it is written here without. */
const named = (name) => name ? { model_name: name.startsWith("user.") ? name : `user.${name}` } : {};

/* "owner/repository" alone has variants to choose from. */
const isRepository = (text) => /^(hf\.co\/|modelscope\.cn\/)?[^\s/:@]+\/[^\s/:@]+$/.test(text) &&
    !/\.gguf$/i.test(text);

/* The name for a file without one: that of the file. */
const nameFrom = (reference) =>
    reference.split(/[?#]/)[0].split(/[/:]/).filter(Boolean).pop()?.replace(/\.gguf$/i, "") ?? "";

/* A card with a form of useForm and its button. */
const FormCard = ({ title, why, form, icon, action, kind = "primary", children, below }) => html`<section class="card">
    <h2>${title}</h2>
    ${why && html`<p class="hint">${why}</p>`}
    <form onSubmit=${form.submit} class="form">
        ${children}
        ${form.error && html`<${ErrorBox} error=${form.error} />`}
        <${Button} kind=${kind} type="submit" icon=${icon} busy=${form.busy}>${action}<//>
    </form>
    ${below}
</section>`;

const OwnName = ({ form }) => html`<${TextField} label=${t("models.add.name")} hint=${t("models.add.name.hint")}
    spellcheck="false" autocapitalize="off" ...${form.field("model_name")} />`;

/* Says that a model was added, and shows it. */
function added({ model_name: name }) {
    toast(t("models.add.done", { name: shownName(name) }));
    go(href("models", name));
}

function FromHub() {
    const [repository, setRepository] = useState("");
    const form = useForm({ checkpoint: "", model_name: "" }, async ({ checkpoint, model_name: name }) => {
        setRepository("");
        if (isRepository(checkpoint) && !name) {
            setRepository(checkpoint.replace(/^hf\.co\//, ""));
            return;
        }
        const job = await pull({ checkpoint, ...named(name || nameFrom(checkpoint)) });
        toast(t("models.downloads.started", { name: shownName(job.model_name) }));
        go(href("models", { show: "downloads" }));
    });
    return html`<${FormCard} title=${t("models.add.hub")} form=${form} icon="download" action=${t("models.downloads.do")}
        below=${repository && html`<${Variants} key=${repository} checkpoint=${repository} />`}>
        <${TextField} label=${t("models.add.reference")} hint=${t("models.add.reference.hint")} required
            spellcheck="false" autocapitalize="off" ...${form.field("checkpoint")} />
        <${OwnName} form=${form} />
    <//>`;
}

function FromFile() {
    const form = useForm({ checkpoint: "", mmproj: "", model_name: "" }, async ({ checkpoint, mmproj, model_name: name }) =>
        added(await registerModel({ checkpoint, ...mmproj ? { mmproj } : {}, ...named(name) })));
    return html`<${FormCard} title=${t("models.add.file")} why=${t("models.add.file.why")} form=${form} icon="plus"
        action=${t("models.add.do")}>
        <${TextField} label=${t("models.add.path")} hint=${t("models.add.path.hint")} required spellcheck="false"
            autocapitalize="off" ...${form.field("checkpoint")} />
        <${TextField} label=${t("models.add.mmproj")} hint=${t("models.add.mmproj.hint")} spellcheck="false"
            autocapitalize="off" ...${form.field("mmproj")} />
        <${OwnName} form=${form} />
    <//>`;
}

function FromPrograms() {
    const form = useForm({}, async () => {
        const { found } = await rescan();
        toast(t("models.add.found", { n: found }));
        if (found)
            go(href("models"));
    });
    return html`<${FormCard} title=${t("models.add.programs")} why=${t("models.add.programs.why")} form=${form}
        kind="plain" icon="folder" action=${t("models.add.rescan")} />`;
}

const FLAVOURS = ["auto", "openai", "llamacpp", "vllm"];

function FromServer() {
    const [flavour, setFlavour] = useState(FLAVOURS[0]);
    const empty = { base_url: "", model: "", api_key: "", model_name: "" };
    const form = useForm(empty, async ({ base_url, model, api_key, model_name: name }) => added(await registerModel({
        recipe: "remote", base_url, flavour, ...named(name || model || nameFrom(base_url)),
        ...model ? { model } : {}, ...api_key ? { api_key } : {},
    })));
    return html`<${FormCard} title=${t("models.add.server")} why=${t("models.add.server.why")} form=${form} icon="plus"
        action=${t("models.add.do")}>
        <${TextField} label=${t("models.add.address")} hint=${t("models.add.address.hint")} required type="url"
            spellcheck="false" ...${form.field("base_url")} />
        <${TextField} label=${t("models.add.remote_model")} spellcheck="false" autocapitalize="off"
            ...${form.field("model")} />
        <${TextField} label=${t("models.add.key")} type="password" autocomplete="off"
            hint=${t("models.add.key.hint")} ...${form.field("api_key")} />
        <${Select} label=${t("models.add.flavour")} value=${flavour} onChange=${setFlavour}
            options=${FLAVOURS.map((f) => [f, t(`models.add.flavour.${f}`)])} />
        <${OwnName} form=${form} />
    <//>`;
}

export const Add = () => html`<div class="add"><${FromHub} /><${FromFile} /><${FromPrograms} /><${FromServer} /></div>`;
