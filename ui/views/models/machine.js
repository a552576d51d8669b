/* One line about this machine: what its models have to fit into. */
import { html } from "../../lib/html.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { machine } from "../../store/models.js";

export function MachineLine() {
    const m = machine.value.data?.machine;
    if (!m)
        return null;
    const facts = [
        m.processor && html`<span class="machine-processor">${m.processor}</span>`,
        ...m.gpus.map(({ name, memory }) =>
            html`<span>${memory ? t("models.machine.gpu", { name, size: bytes(memory) }) : name}</span>`),
        m.limit && html`<span>${t("models.machine.memory", { free: bytes(m.free), limit: bytes(m.limit) })}</span>`,
        m.disk !== null && html`<span>${t("models.machine.disk", { free: bytes(m.disk) })}</span>`,
    ];
    return html`<p class="facts-line hint"><span
        class="visually-hidden">${t("models.machine.label")}</span>${facts.filter(Boolean)}</p>`;
}
