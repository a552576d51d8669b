/* The style sheet of a view, loaded with the view. */
const loaded = new Map();

/* Resolves when styles/NAME.css applies; also when it cannot be loaded, since a view without its looks
 * is better than none. */
export function useStyles(name) {
    if (!loaded.has(name))
        loaded.set(name, new Promise((done) => {
            const link = document.createElement("link");
            link.rel = "stylesheet";
            link.href = new URL(`../styles/${name}.css`, import.meta.url).href;
            link.onload = link.onerror = done;
            document.head.append(link);
        }));
    return loaded.get(name);
}
