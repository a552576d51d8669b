/* How quick an answer was, in one line. */
import { html } from "../../lib/html.js";
import { duration, number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";

const SHOWN_MS = 50; /* less than a tenth of a second says nothing */

export function Figures({ model, stats }) {
    const { output, tokens_s: speed, first_ms: first, prompt, cached } = stats ?? {};
    const parts = [
        output > 0 && t("chat.tokens", { n: output }),
        speed > 0 && t("chat.speed", { n: number(speed, speed < 10 ? 1 : 0) }),
        first >= SHOWN_MS && t("chat.first", { time: duration(first) }),
    ].filter(Boolean);
    const more = [
        prompt > 0 && t("chat.prompt_tokens", { n: prompt }),
        cached > 0 && t("chat.cached_tokens", { n: cached }),
    ].filter(Boolean).join(", ");
    return html`<span class="figures" title=${more || undefined}><bdi>${shownName(model)}</bdi>${parts.map((one) => html` · ${one}`)}</span>`;
}
