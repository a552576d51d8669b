/* A mask is drawn on a picture with a brush: by pointer, or with the arrow keys and the space bar. */
import { html, useEffect, useId, useRef, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { paint } from "../../lib/media/mask.js";
import { Button } from "../../components/button.js";

const LEAST = 0.02, MOST = 0.4, USUAL = 0.1; /* the brush, as a part of the longer side */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/* Where a pointer is, in pixels of the picture. */
function place(event, canvas) {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width * canvas.width, (event.clientY - box.top) / box.height * canvas.height];
}

const colourOf = (element) => getComputedStyle(element).getPropertyValue("--mask") || "red";

export function MaskEditor({ picture, strokes, onChange }) {
    const canvas = useRef(null), drawing = useRef(null), id = useId();
    const [share, setShare] = useState(USUAL), [erase, setErase] = useState(false);
    const [at, setAt] = useState(null); /* the brush of the keyboard: [x, y], or null */
    const { width, height } = picture, size = share * Math.max(width, height);
    useEffect(() => paint(canvas.current, strokes, colourOf(canvas.current)), [strokes]);

    const put = (stroke) => onChange([...strokes, stroke]);
    const down = (event) => {
        if (event.button !== 0)
            return;
        event.preventDefault();
        canvas.current.setPointerCapture(event.pointerId);
        setAt(null);
        drawing.current = { size, erase, points: [place(event, canvas.current)] };
        paint(canvas.current, [...strokes, drawing.current], colourOf(canvas.current));
    };
    const move = (event) => {
        if (!drawing.current)
            return;
        drawing.current.points.push(place(event, canvas.current));
        paint(canvas.current, [...strokes, drawing.current], colourOf(canvas.current));
    };
    const up = () => {
        if (drawing.current)
            put(drawing.current);
        drawing.current = null;
    };
    const key = (event) => {
        const now = at ?? [width / 2, height / 2];
        if (event.key === " " || event.key === "Enter") {
            event.preventDefault();
            setAt(now);
            put({ size, erase, points: [now] });
        } else if (event.key in MOVES) {
            event.preventDefault();
            const step = size * (event.shiftKey ? 1 : 0.25), [dx, dy] = MOVES[event.key];
            const to = [Math.min(width, Math.max(0, now[0] + dx * step)), Math.min(height, Math.max(0, now[1] + dy * step))];
            setAt(to);
        }
    };
    const ring = at && { left: `${at[0] / width * 100}%`, top: `${at[1] / height * 100}%`, width: `${size / width * 100}%`, height: `${size / height * 100}%` };
    return html`<div class="mask">
        <div class="mask-picture" style=${{ aspectRatio: `${width} / ${height}` }}>
            <img src=${picture.url} alt=${picture.file.name} />
            <canvas ref=${canvas} width=${width} height=${height} tabindex="0" role="application" aria-label=${t("media.mask.canvas")} aria-describedby=${id}
                onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${up} onKeyDown=${key} onBlur=${() => setAt(null)}></canvas>
            ${ring && html`<span class="mask-ring" style=${ring}></span>`}
        </div>
        <p class="hint" id=${id}>${t("media.mask.hint")}</p>
        <p class="visually-hidden" role="status">${at ? t("media.mask.at", { x: Math.round(at[0]), y: Math.round(at[1]), n: strokes.length }) : ""}</p>
        <div class="row">
            <label class="brush">${t("media.mask.brush")}
                <input type="range" min=${LEAST} max=${MOST} step="0.01" value=${share} onInput=${(e) => setShare(e.currentTarget.valueAsNumber)} /></label>
            <${Button} small icon="edit" aria-pressed=${String(!erase)} onClick=${() => setErase(false)}>${t("media.mask.paint")}<//>
            <${Button} small icon="close" aria-pressed=${String(erase)} onClick=${() => setErase(true)}>${t("media.mask.erase")}<//>
            <${Button} small icon="retry" disabled=${!strokes.length} onClick=${() => onChange(strokes.slice(0, -1))}>${t("action.undo")}<//>
            <${Button} small icon="trash" disabled=${!strokes.length} onClick=${() => onChange([])}>${t("media.mask.clear")}<//>
        </div>
    </div>`;
}
