/* The media view: one panel for each thing that models do besides talking. /app/media lists them,
 * /app/media/PART is a panel. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { PARTS } from "../../lib/media/abilities.js";
import { href, route } from "../../lib/route.js";
import { useStyles } from "../../lib/styles.js";
import { useTitle } from "../../lib/title.js";
import { Tabs } from "../../components/tabs.js";
import { useMediaModels } from "../../store/media_models.js";
import { Embeddings } from "./embeddings.js";
import { Images } from "./images.js";
import { Overview } from "./overview.js";
import { Rerank } from "./rerank.js";
import { Speech } from "./speech.js";
import { Transcribe } from "./transcribe.js";

await useStyles("media");

const PANELS = { embeddings: Embeddings, rerank: Rerank, transcribe: Transcribe, speech: Speech, images: Images };

const links = (current) => [
    { href: href("media"), text: t("media.part.all"), current: current === null },
    ...PARTS.map(({ name }) => ({ href: href("media", name), text: t(`media.part.${name}`), current: name === current })),
];

export default function View() {
    useMediaModels();
    const name = route.value.rest[0] in PANELS ? route.value.rest[0] : null;
    const Panel = PANELS[name] ?? Overview;
    useTitle(name ? t(`media.part.${name}`) : t("nav.media"));
    return html`<div class="document media">
        <h1>${t("nav.media")}</h1>
        <${Tabs} label=${t("media.parts")} items=${links(name)} />
        <${Panel} key=${name} />
    </div>`;
}
