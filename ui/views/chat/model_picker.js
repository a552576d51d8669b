/* Which model answers: a list with what each can do and whether it is loaded. */
import { html, useEffect, useId, useRef, useState } from "../../lib/html.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";
import { href } from "../../lib/route.js";
import { useKeys } from "../../lib/keys.js";
import { Icon } from "../../components/icon.js";
import { ErrorBox } from "../../components/error.js";
import { chatModels, loadModels, modelsState } from "../../store/chat_models.js";
import { Popover } from "./popover.js";
import { changeSettings, settingsOf } from "./settings.js";

const SEARCH_FROM = 7; /* models: fewer need no search */
const SHOWN = ["vision", "audio", "tools", "reasoning"];

function Option({ model, id, chosen, active, choose }) {
    const can = SHOWN.filter((c) => model.capabilities.includes(c)).map((c) => t(`chat.can.${c}`));
    return html`<li id=${id} role="option" aria-selected=${String(chosen)} class=${active ? "active" : ""} onClick=${() => choose(model.id)}>
        <${Icon} name=${chosen ? "check" : "blank"} size="16" />
        <span class="name"><bdi>${shownName(model.id)}</bdi>
            <small>${[bytes(model.size_bytes), ...can].filter(Boolean).join(" · ")}</small></span>
        ${model.loaded && html`<span class="badge good">${t("chat.loaded")}</span>`}
    </li>`;
}

function Choice({ chosen, choose }) {
    const [text, setText] = useState(""), [at, setAt] = useState(-1);
    const id = useId(), list = useRef(null), input = useRef(null);
    const found = chatModels.value.filter((m) => m.id.toLowerCase().includes(text.toLowerCase()));
    const searched = chatModels.value.length >= SEARCH_FROM;
    useEffect(() => {
        loadModels();
        (input.current ?? list.current)?.focus();
        setAt(found.findIndex((m) => m.id === chosen));
    }, []);
    useEffect(() => list.current?.querySelector(".active")?.scrollIntoView({ block: "nearest" }), [at]);
    const pressed = (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step && found.length) {
            event.preventDefault();
            setAt((Math.max(at, step > 0 ? -1 : 0) + step + found.length) % found.length);
        } else if (event.key === "Enter" || (event.key === " " && !searched)) {
            event.preventDefault();
            if (found[at] ?? found[0])
                choose((found[at] ?? found[0]).id);
        }
    };
    const active = found[at] ? `${id}-${at}` : undefined;
    return html`<div class="picker" onKeyDown=${pressed}>
        ${searched && html`<input ref=${input} type="search" role="combobox" aria-expanded="true" aria-controls=${id} aria-activedescendant=${active}
            aria-label=${t("chat.model_search")} placeholder=${t("chat.model_search")} value=${text}
            onInput=${(e) => { setText(e.currentTarget.value); setAt(0); }} />`}
        ${modelsState.value.error && html`<${ErrorBox} error=${modelsState.value.error} retry=${loadModels} />`}
        <ul id=${id} ref=${list} role="listbox" tabindex=${searched ? undefined : "0"} aria-label=${t("chat.models")}
            aria-activedescendant=${searched ? undefined : active}>
            ${found.map((m, i) => html`<${Option} key=${m.id} model=${m} id=${`${id}-${i}`} chosen=${m.id === chosen} active=${i === at} choose=${choose} />`)}
        </ul>
        ${!found.length && !modelsState.value.error && html`<p class="hint">${t("chat.model_none")}</p>`}
        <a href=${href("models")}>${t("chat.more_models")}</a>
    </div>`;
}

export function ModelPicker({ conversation }) {
    const [open, setOpen] = useState(false);
    const { model } = settingsOf(conversation);
    const choose = (name) => {
        setOpen(false);
        document.querySelector(".composer textarea")?.focus();
        changeSettings(conversation, { model: name });
    };
    useKeys([{ keys: "alt+m", text: "chat.key.model", group: "chat", run: () => setOpen(true) }], []);
    const name = model ? shownName(model) : t("chat.no_model");
    const button = { label: t("chat.model_is", { model: name }), children: html`<bdi class="picked-model">${name}</bdi> <${Icon} name="down" size="16" />` };
    return html`<${Popover} open=${open} setOpen=${setOpen} button=${button} label=${t("chat.models")}>
        <${Choice} chosen=${model} choose=${choose} />
    <//>`;
}
