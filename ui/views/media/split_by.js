/* How a pasted text is divided. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Select } from "../../components/field.js";

export const SplitBy = ({ value, onChange }) => html`<${Select} label=${t("media.split")} value=${value} onChange=${onChange}
    options=${[["line", t("media.split.line")], ["paragraph", t("media.split.paragraph")]]} />`;
