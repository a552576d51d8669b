/* Puts work off until an element comes near the part of the page that is seen, and then until the
 * browser has nothing better to do. */

const waiting = new WeakMap();
const idle = window.requestIdleCallback ?? ((run) => setTimeout(run, 30));

const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
        if (!entry.isIntersecting)
            continue;
        observer.unobserve(entry.target);
        const run = waiting.get(entry.target);
        waiting.delete(entry.target);
        idle(() => run?.());
    }
}, { rootMargin: "600px" });

export function whenNear(element, run) {
    waiting.set(element, run);
    observer.observe(element);
}
