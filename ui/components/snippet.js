/* A text to be copied: a command, a file, an address. */
import { html } from "../lib/html.js";
import { copyText } from "../lib/clipboard.js";
import { t } from "../lib/i18n.js";
import { IconButton } from "./button.js";
import { toast, toastError } from "./toast.js";

export const copy = (text) => copyText(text).then(() => toast(t("action.copied")), toastError);

/* label: what the text is, read aloud. */
export const Snippet = ({ label, code }) => html`<div class="snippet">
    <pre tabindex="0" role="group" aria-label=${label}><code>${code}</code></pre>
    <${IconButton} icon="copy" label=${t("snippet.copy", { what: label })} onClick=${() => copy(code)} />
</div>`;
