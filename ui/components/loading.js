/* Shown while something is read. Nothing for the first moment, so that quick answers do not flicker. */
import { html } from "../lib/html.js";
import { t } from "../lib/i18n.js";

export const Loading = ({ text }) => html`<p class="loading" role="status"><span class="spinner" aria-hidden="true"></span>
    ${text ?? t("shell.loading")}</p>`;

/* data of useResource by the function `children`, or what there is in its place. */
export function Loaded({ of, children, ErrorBox }) {
    if (of.error && !of.data)
        return html`<${ErrorBox} error=${of.error} retry=${of.reload} />`;
    return of.data ? children(of.data) : html`<${Loading} />`;
}
