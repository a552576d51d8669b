/* The models view: what is here, what can be had, downloads, own files and engines. The parts are
 * chosen by ?show=, so that /app/models/NAME can be any model's page. */
import { html, useCallback } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { hasEnded } from "../../lib/models/jobs.js";
import { shownName, withoutAliases } from "../../lib/models/list.js";
import { go, href, route } from "../../lib/route.js";
import { useStyles } from "../../lib/styles.js";
import { useTitle } from "../../lib/title.js";
import { Tabs } from "../../components/tabs.js";
import { toast } from "../../components/toast.js";
import { jobs, useDownloads } from "../../store/downloads.js";
import { installed, models, useModels } from "../../store/models.js";
import { Add } from "./add.js";
import { Downloads } from "./downloads.js";
import { Engines } from "./engines.js";
import { Here } from "./here.js";
import { Library } from "./library.js";
import { MachineLine } from "./machine.js";
import { ModelPage } from "./model.js";
import { useModelFinder } from "./finder.js";

await useStyles("models");

const PARTS = { here: Here, get: Library, downloads: Downloads, add: Add, engines: Engines };

/* How many there are, behind the text of a part's link. */
const counted = (text, n) => n ? t("models.counted", { text, n }) : text;

function links(current) {
    const counts = {
        here: withoutAliases(installed.value).length,
        downloads: jobs.value?.filter((job) => !hasEnded(job)).length,
    };
    return Object.keys(PARTS).map((part) => ({
        href: href("models", { show: part === "here" ? "" : part }),
        text: counted(t(`models.part.${part}`), counts[part]),
        current: part === current,
    }));
}

export default function View() {
    useModels();
    useModelFinder();
    const completed = useCallback((job) => toast(t("models.downloads.completed", { name: shownName(job.model_name) }), {
        action: { text: t("models.open"), run: () => go(href("models", job.model_name)) },
    }), []);
    useDownloads(completed);
    const { rest, query } = route.value;
    const asked = query.get("show");
    const part = asked in PARTS ? asked : "here";
    useTitle(rest.length ? shownName(rest.join("/")) : part === "here" ? t("nav.models") : t(`models.part.${part}`));
    if (rest.length)
        return html`<${ModelPage} key=${rest.join("/")} name=${rest.join("/")} />`;
    const Part = PARTS[part];
    return html`<div class="document models">
        <header class="models-head">
            <h1>${t("nav.models")}</h1>
            <${MachineLine} />
        </header>
        <${Tabs} label=${t("models.parts")} items=${links(part)} />
        <${Part} key=${part} models=${models.value} />
    </div>`;
}
