/* A picture that was made: seen large with what it was made from, saved, used again. */
import { html, useEffect, useState } from "../../lib/html.js";
import { dateTime } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { downloadBlob } from "../../lib/clipboard.js";
import { useKept } from "../../lib/kept.js";
import { fileName } from "../../lib/media/pictures.js";
import { go, href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { Dialog } from "../../components/dialog.js";
import { toast } from "../../components/toast.js";
import { EMPTY } from "../../store/painting.js";
import { removePictures, setSource } from "../../store/pictures.js";

/* An address of a file in memory, for as long as the component is shown. */
function useUrl(blob) {
    const [url, setUrl] = useState("");
    useEffect(() => {
        const made = URL.createObjectURL(blob);
        setUrl(made);
        return () => URL.revokeObjectURL(made);
    }, [blob]);
    return url;
}

const nameOf = (picture) => fileName({ ...picture.params, kind: picture.kind });
/* What the picture shows, as far as the page knows it. */
const altOf = ({ params, kind }) => params.prompt || t(`media.picture.${kind}`);

async function remove(picture) {
    const undo = await removePictures([picture]);
    toast(t("media.picture.removed"), { action: { text: t("action.undo"), run: undo } });
}

function use(picture, kind) {
    setSource({ file: new File([picture.blob], nameOf(picture), { type: picture.blob.type }), width: picture.width, height: picture.height });
    go(href("media", "images", { do: kind }));
}

const ROWS = ["model", "prompt", "negative", "size", "steps", "guidance", "strength", "seed"];

function Facts({ picture }) {
    const { params, when, width, height, kind } = picture;
    const known = ROWS.filter((name) => params[name] !== null && params[name] !== undefined && params[name] !== "" && name !== "size");
    return html`<dl class="picture-facts">
        <div><dt>${t("media.picture.made")}</dt><dd>${t(`media.picture.${kind}`)}, ${dateTime(when)}</dd></div>
        <div><dt>${t("media.images.size")}</dt><dd>${width} × ${height}</dd></div>
        ${known.map((name) => html`<div key=${name}><dt>${t(`media.param.${name}`)}</dt><dd>${String(params[name])}</dd></div>`)}
    </dl>`;
}

export function PictureDialog({ picture, close }) {
    const url = useUrl(picture.blob), [ask, setAsk] = useKept("media.images", EMPTY);
    const { params, kind } = picture;
    const then = (act) => () => {
        close();
        act();
    };
    const again = (changes) => then(() => {
        setAsk({ ...ask, ...changes });
        go(href("media", "images", { do: kind === "edit" || kind === "vary" ? kind : "" }));
    });
    const { model, ...settings } = params;
    return html`<${Dialog} wide title=${t(`media.picture.${kind}`)} close=${close} class="picture-dialog" actions=${html`
        <${Button} kind="danger" icon="trash" onClick=${then(() => remove(picture))}>${t("action.delete")}<//>
        ${["edit", "vary", "enlarge"].map((next) => html`<${Button} key=${next} onClick=${then(() => use(picture, next))}>${t(`media.images.${next}`)}<//>`)}
        ${kind !== "enlarge" && html`<${Button} onClick=${again({ seed: params.seed })}>${t("media.picture.seed")}<//>
            <${Button} onClick=${again(settings)}>${t("media.picture.settings")}<//>`}
        <${Button} kind="primary" icon="download" onClick=${() => downloadBlob(picture.blob, nameOf(picture))}>${t("media.download")}<//>`}>
        ${url && html`<img src=${url} alt=${altOf(picture)} />`}
        <${Facts} picture=${picture} />
    <//>`;
}

/* A picture to be clicked. small: in the history. */
export function Picture({ picture, small }) {
    const url = useUrl(picture.blob), [open, setOpen] = useState(false);
    return html`<button type="button" class=${"media-picture" + (small ? " small" : "")} aria-label=${t("media.picture.open", { what: altOf(picture) })}
        onClick=${() => setOpen(true)}>${url && html`<img src=${url} alt="" width=${picture.width} height=${picture.height} loading="lazy" />`}</button>
        ${open && html`<${PictureDialog} picture=${picture} close=${() => setOpen(false)} />`}`;
}
