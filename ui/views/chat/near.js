/* Whether an element with `content-visibility: auto` is, or has been, near the part of the page that
 * is seen: the browser watches that anyway, for all of them at little cost. */
import { useEffect, useState } from "../../lib/html.js";
import { whenNear } from "../../lib/markdown/near.js";

/* ref: of the element. atOnce: it need not be waited for. */
export function useNear(ref, atOnce) {
    const [near, setNear] = useState(atOnce);
    useEffect(() => {
        const element = ref.current;
        if (near)
            return undefined;
        if (!("oncontentvisibilityautostatechange" in element)) {
            whenNear(element, () => setNear(true));
            return undefined;
        }
        const changed = (event) => event.target === element && !event.skipped && setNear(true);
        element.addEventListener("contentvisibilityautostatechange", changed);
        return () => element.removeEventListener("contentvisibilityautostatechange", changed);
    }, [near]);
    return near || atOnce;
}
