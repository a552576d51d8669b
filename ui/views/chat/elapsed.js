/* Shows the time since this component was mounted, updated every second. */
import { html, useEffect, useState } from "../../lib/html.js";
import { duration } from "../../lib/format.js";

/* text: what is in progress. */
export function Elapsed({ text }) {
    const [since] = useState(Date.now), [now, setNow] = useState(since);
    useEffect(() => {
        const timer = setInterval(() => setNow(Date.now()), 1000);
        return () => clearInterval(timer);
    }, []);
    return html`<span class="thinking">${text} ${now > since && duration(Math.round((now - since) / 1000) * 1000)}</span>`;
}
