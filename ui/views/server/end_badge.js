/* How a request has ended; of a failure also its status. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";

const LOOK = { completed: "good", failed: "bad", cancelled: "warn" };

export const EndBadge = ({ request }) => html`<span class=${`badge ${LOOK[request.end]}`}>${t(`server.requests.end.${request.end}`)}${
    request.end === "failed" && request.status ? ` ${request.status}` : ""}</span>`;
