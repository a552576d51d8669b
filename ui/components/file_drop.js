/* A place for files: they are chosen, dropped there, or pasted anywhere while it is shown. */
import { html, useEffect, useState } from "../lib/html.js";
import { Icon } from "./icon.js";

/* take(files) gets an array. label: the text of the button; hint: what can be given. */
export function FileDrop({ label, hint, accept, multiple, icon = "upload", take, children }) {
    const [over, setOver] = useState(false);
    const give = (list) => {
        const files = [...list ?? []];
        if (files.length)
            take(multiple ? files : files.slice(0, 1));
    };
    useEffect(() => {
        const pasted = (event) => {
            if (event.clipboardData?.files.length) {
                event.preventDefault();
                give(event.clipboardData.files);
            }
        };
        document.addEventListener("paste", pasted);
        return () => document.removeEventListener("paste", pasted);
    }, [take]);
    const dragged = (event) => {
        event.preventDefault();
        setOver(event.type === "dragover");
    };
    const dropped = (event) => {
        dragged(event);
        give(event.dataTransfer.files);
    };
    return html`<div class=${"file-drop" + (over ? " over" : "")} onDragOver=${dragged} onDragLeave=${dragged} onDrop=${dropped}>
        ${children}
        <label class="button">
            <${Icon} name=${icon} />${label}
            <input type="file" class="visually-hidden" accept=${accept} multiple=${multiple}
                onChange=${(e) => { give(e.currentTarget.files); e.currentTarget.value = ""; }} />
        </label>
        ${hint && html`<p class="hint">${hint}</p>`}
    </div>`;
}
