/* Parts of the page whose code is loaded when it is needed, so that the first view is ready sooner. */
import { html, useEffect, useState } from "../lib/html.js";
import { ErrorBox } from "./error.js";

/* The code of a part. load() returns a promise of its module. */
export class Later {
    #load;
    #loading = null;
    /* The module; null: it is not loaded. */
    module = null;

    constructor(load) {
        this.#load = load;
    }

    /* Resolves when the module is here. After a failure, the next call tries again. */
    load() {
        this.#loading ??= this.#load().then((module) => {
            this.module = module;
        }, (e) => {
            this.#loading = null;
            throw e;
        });
        return this.#loading;
    }

    /* Loads the module before it is needed. A failure is ignored here: useLater() tries again, and reports it. */
    ahead() {
        this.load().catch(() => {});
    }
}

/* Loads the code of what is shown. Returns {module, error}; both are null while it is loaded. */
export function useLater(later) {
    const { module } = later;
    const [, setCount] = useState(0);
    const [error, setError] = useState(null);
    useEffect(() => {
        let live = true;
        setError(null);
        if (!module) /* The last rendering had no module: render again, even if the module has been loaded since. */
            later.load().then(() => live && setCount((n) => n + 1), (e) => live && setError(e));
        return () => {
            live = false;
        };
    }, [later]);
    return { module, error };
}

/* A component that the module exports as `name`. Nothing is shown while the module is loaded. */
export const part = (later, name) => function Part(props) {
    const { module, error } = useLater(later);
    if (error)
        return html`<${ErrorBox} error=${error} retry=${() => location.reload()} />`;
    return module && html`<${module[name]} ...${props} />`;
};
