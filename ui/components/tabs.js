/* Links between the parts of a view. Each part has an address, so these are links, not tabs in the
 * sense of ARIA. items: [{href, text, current}] */
import { html } from "../lib/html.js";

export const Tabs = ({ label, items }) => html`<nav class="tabs" aria-label=${label}><ul>
    ${items.map((item) => html`<li key=${item.href}><a href=${item.href}
        aria-current=${item.current ? "page" : undefined}>${item.text}</a></li>`)}
</ul></nav>`;
