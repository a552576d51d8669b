/* What only an admin may see: the content, or a sentence that says so. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Empty } from "../../components/empty.js";
import { ErrorBox } from "../../components/error.js";
import { Loading } from "../../components/loading.js";
import { isAdmin, readStatus, serverStatus } from "../../store/server.js";

export const NotForYou = ({ text }) => html`<${Empty} icon="key" title=${t("server.admin.title")}>
    <p>${text}</p><p>${t("server.admin.why")}</p><//>`;

/* what: a sentence about what is not shown. children: a function, called for an admin. */
export function ForAdmins({ what, children }) {
    if (isAdmin.value)
        return children();
    if (isAdmin.value === false)
        return html`<${NotForYou} text=${what} />`;
    const { error } = serverStatus.value;
    return error ? html`<${ErrorBox} error=${error} retry=${readStatus} />` : html`<${Loading} />`;
}
