/* A markdown text of a model as a component. Its blocks are kept by MarkdownView, outside of Preact. */
import { html, useLayoutEffect, useRef } from "../../lib/html.js";
import { language } from "../../lib/i18n.js";
import { MarkdownView } from "../../lib/markdown/view.js";

/* live: a LiveAnswer whose `part` ("text" or "reasoning") is followed; without it `text` is shown. */
export function Markdown({ text, live, part = "text", class: extra = "" }) {
    const element = useRef(null), view = useRef(null);
    useLayoutEffect(() => {
        view.current = new MarkdownView(element.current);
        return () => view.current.dispose();
    }, [language.value]);
    useLayoutEffect(() => {
        if (live)
            return live.subscribe((answer) => view.current.update(answer[part], part === "reasoning" && !answer.thinking));
        view.current.update(text, true);
        return undefined;
    }, [live, text, language.value]);
    return html`<div class=${`md ${extra}`} ref=${element}></div>`;
}
