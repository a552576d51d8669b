/* How far something is: a bar with its value. share: 0 to 1, or null if it is not known. */
import { html } from "../lib/html.js";
import { percent } from "../lib/format.js";

export const Progress = ({ share, label }) => html`<div class="progress" role="progressbar" aria-label=${label}
    aria-valuemin="0" aria-valuemax="100" aria-valuenow=${share === null ? undefined : Math.round(share * 100)}
    aria-valuetext=${share === null ? undefined : percent(share)}>
    <div class=${share === null ? "unknown" : ""} style=${{ width: share === null ? "30%" : `${share * 100}%` }}></div>
</div>`;
