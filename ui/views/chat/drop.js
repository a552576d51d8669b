/* Files that are dropped anywhere on the chat. */
import { signal } from "../../lib/html.js";

/* Whether files are being dragged over the page. */
export const dragging = signal(false);

const hasFiles = (event) => [...event.dataTransfer?.types ?? []].includes("Files");

/* add(files) is called for each drop. Returns what ends it. */
export function dropped(add) {
    let depth = 0;
    const handlers = {
        dragenter: () => {
            depth++;
            dragging.value = true;
        },
        dragleave: () => {
            depth--;
            dragging.value = depth > 0;
        },
        dragover: (event) => event.preventDefault(),
        drop: (event) => {
            event.preventDefault();
            depth = 0;
            dragging.value = false;
            add([...event.dataTransfer.files]);
        },
    };
    const all = Object.entries(handlers).map(([name, run]) => [name, (event) => hasFiles(event) && run(event)]);
    for (const [name, run] of all)
        document.addEventListener(name, run);
    return () => {
        dragging.value = false;
        for (const [name, run] of all)
            document.removeEventListener(name, run);
    };
}
