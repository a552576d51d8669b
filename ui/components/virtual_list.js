/* A list of many rows of one height, of which only those in view are in the document. A list box:
 * arrow keys move the current row, Enter opens it. */
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../lib/html.js";

const BESIDE = 12; /* rows above and below the view that are there, too */

/* count: rows. row(i): the content of a row, as a function component would return it. name(i): a key.
 * dropped: how many rows have been removed at the start so far, so that the view stays where it is.
 * end, onEnd: whether the view is kept at the end. current: index, or -1. */
export function VirtualList({ label, count, height, row, name, dropped = 0, end, onEnd, current, onCurrent, onOpen }) {
    const box = useRef(null), id = useId(), before = useRef(dropped);
    const [top, setTop] = useState(0), [room, setRoom] = useState(600);
    useLayoutEffect(() => { /* which, unlike useEffect, ends before the box is gone */
        const e = box.current, watch = new ResizeObserver(() => setRoom(e.clientHeight));
        watch.observe(e);
        return () => watch.disconnect();
    }, []);
    useLayoutEffect(() => {
        const gone = dropped - before.current;
        before.current = dropped;
        if (end)
            box.current.scrollTop = box.current.scrollHeight;
        else if (gone > 0)
            box.current.scrollTop -= gone * height;
    }, [count, dropped, end, room]);
    /* A row that has become the current one is moved into view. */
    useEffect(() => {
        if (current < 0)
            return;
        const e = box.current, at = current * height;
        if (at < e.scrollTop || at + height > e.scrollTop + e.clientHeight)
            e.scrollTop = Math.max(0, at - e.clientHeight / 2);
    }, [current]);
    const scrolled = () => {
        const e = box.current;
        setTop(e.scrollTop);
        const reached = e.scrollTop + e.clientHeight >= e.scrollHeight - height;
        if (reached !== end)
            onEnd(reached);
    };
    const moved = (event) => {
        const page = Math.max(1, Math.floor(room / height) - 1);
        const from = current < 0 ? count : current;
        const to = { ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page, Home: 0, End: count - 1 }[event.key];
        if (to !== undefined && count) {
            event.preventDefault();
            onCurrent(Math.min(Math.max(to, 0), count - 1));
        } else if (event.key === "Enter" && current >= 0) {
            event.preventDefault();
            onOpen?.(current);
        }
    };
    const first = Math.max(0, Math.floor(top / height) - BESIDE), last = Math.min(count, Math.ceil((top + room) / height) + BESIDE);
    const rows = [];
    for (let i = first; i < last; i++)
        rows.push(html`<div key=${name(i)} id=${`${id}-${name(i)}`} role="option" class="virtual-row" aria-selected=${String(i === current)}
            aria-setsize=${count} aria-posinset=${i + 1} style=${{ top: `${i * height}px`, height: `${height}px` }}
            onClick=${() => { onCurrent(i); onOpen?.(i); }}>${row(i)}</div>`);
    return html`<div class="virtual" ref=${box} tabindex="0" role="listbox" aria-label=${label} onScroll=${scrolled} onKeyDown=${moved}
        aria-activedescendant=${current >= first && current < last ? `${id}-${name(current)}` : undefined}>
        <div class="virtual-space" role="presentation" style=${{ height: `${count * height}px` }}>${rows}</div>
    </div>`;
}
