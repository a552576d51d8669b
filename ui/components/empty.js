/* What a list shows while there is nothing in it, with what can be done. */
import { html } from "../lib/html.js";
import { Icon } from "./icon.js";

export const Empty = ({ icon = "info", title, children }) => html`<div class="empty">
    <${Icon} name=${icon} size="32" /><h2>${title}</h2>${children}</div>`;
