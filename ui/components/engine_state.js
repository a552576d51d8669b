/* Whether an engine is installed, as a badge. state: as GET system-info has it. */
import { html } from "../lib/html.js";
import { t } from "../lib/i18n.js";

const LOOK = { installed: "good", update_required: "warn", installable: "", unsupported: "" };

export const EngineState = ({ state }) => html`<span
    class=${`badge ${LOOK[state] ?? ""}`}>${t(`models.engines.state.${state}`)}</span>`;
