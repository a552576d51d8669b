/* Keeps a scrolled element at its end while it grows, as long as the reader is there. */
import { useCallback, useEffect, useRef, useState } from "../../lib/html.js";

const NEAR_PX = 60;

/* scroll, content: refs of the element that scrolls and of what grows in it. Returns {atEnd, toEnd}. */
export function useFollowEnd(scroll, content, key) {
    const [atEnd, setAtEnd] = useState(true);
    const held = useRef(true);
    const toEnd = useCallback(() => {
        held.current = true;
        setAtEnd(true);
        scroll.current?.scrollTo({ top: scroll.current.scrollHeight });
    }, []);
    useEffect(() => {
        const element = scroll.current;
        let before = element.scrollTop;
        const scrolled = () => {
            const rest = element.scrollHeight - element.clientHeight - element.scrollTop;
            /* Only the reader scrolls up; content that grows does not. */
            if (rest <= NEAR_PX)
                held.current = true;
            else if (element.scrollTop < before)
                held.current = false;
            before = element.scrollTop;
            setAtEnd(held.current);
        };
        const grown = new ResizeObserver(() => {
            if (held.current)
                element.scrollTop = element.scrollHeight;
        });
        grown.observe(content.current);
        grown.observe(element);
        element.addEventListener("scroll", scrolled, { passive: true });
        return () => {
            grown.disconnect();
            element.removeEventListener("scroll", scrolled);
        };
    }, []);
    useEffect(toEnd, [key]);
    return { atEnd, toEnd };
}
