/* Shows data that is fetched from the server: a notice while it is fetched, then the content, or why
 * fetching failed. */
import { html } from "../lib/html.js";
import { ErrorBox } from "./error.js";
import { Loading } from "./loading.js";

/* state: {data, error}, as a resource has it; data that was read before an error stays. retry() reads
 * again. children: a function of the data. */
export function Loaded({ state: { data, error }, retry, children }) {
    if (data)
        return children(data);
    return error ? html`<${ErrorBox} error=${error} retry=${retry} />` : html`<${Loading} />`;
}
