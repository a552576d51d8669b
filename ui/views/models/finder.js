/* Models in the command palette, and the keys of this view. */
import { useEffect } from "../../lib/html.js";
import { useKeys } from "../../lib/keys.js";
import { t } from "../../lib/i18n.js";
import { matches, shownName } from "../../lib/models/list.js";
import { go, href } from "../../lib/route.js";
import { addFinder } from "../../components/palette.js";
import { models } from "../../store/models.js";

const FOUND_MAX = 6;

const find = (text) => text.trim() ? (models.peek().data ?? []).filter((m) => matches(m, text)).slice(0, FOUND_MAX)
    .map((m) => ({
        text: shownName(m.id), icon: "box", hint: t(m.downloaded ? "models.here" : "models.not_here"),
        run: () => go(href("models", m.id)),
    })) : [];

export function useModelFinder() {
    useEffect(() => addFinder(find), []);
    const show = (part) => () => go(href("models", { show: part }));
    useKeys([
        { keys: "/", text: "models.keys.search", group: "models", run: () => document.querySelector("[data-search]")?.focus() },
        { keys: "g", text: "models.part.get", group: "models", run: show("get") },
        { keys: "d", text: "models.part.downloads", group: "models", run: show("downloads") },
    ]);
}
