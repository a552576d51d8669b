/* Whether the texts of requests are captured now: said to everyone, switched by admins. */
import { html, useState } from "../../lib/html.js";
import { bytes, duration } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { Dialog } from "../../components/dialog.js";
import { ErrorBox } from "../../components/error.js";
import { Select } from "../../components/field.js";
import { toastError } from "../../components/toast.js";
import { isAdmin, setCapture } from "../../store/server.js";

const MINUTES = [5, 15, 60, 240], MIB = 2 ** 20, SIZES = [4, 16, 64, 256];

function Begin({ close }) {
    const [minutes, setMinutes] = useState("15"), [size, setSize] = useState("16"), [error, setError] = useState(null);
    const begin = async () => {
        try {
            await setCapture({ on: true, minutes: Number(minutes), bytes: Number(size) * MIB });
            close();
        } catch (e) {
            setError(e);
        }
    };
    return html`<${Dialog} title=${t("server.capture.begin")} close=${close} actions=${html`
        <${Button} onClick=${close}>${t("action.cancel")}<//>
        <${Button} kind="primary" onClick=${begin}>${t("server.capture.begin")}<//>`}>
        <p>${t("server.capture.why")}</p>
        <p>${t("server.capture.limits")}</p>
        <${Select} label=${t("server.capture.minutes")} value=${minutes} onChange=${setMinutes}
            options=${MINUTES.map((n) => [String(n), duration(n * 60000)])} />
        <${Select} label=${t("server.capture.bytes")} value=${size} onChange=${setSize} options=${SIZES.map((n) => [String(n), bytes(n * MIB)])} />
        ${error && html`<${ErrorBox} error=${error} />`}
    <//>`;
}

const stop = () => setCapture({ on: false }).catch(toastError);

export function Capture({ capture }) {
    const [asking, setAsking] = useState(false);
    const has = capture.on || capture.used > 0;
    return html`<div class=${`notice-box row between${capture.on ? " warn" : ""}`} role="status">
        <span>${capture.on ? t("server.capture.on", { time: duration(capture.left_ms), used: bytes(capture.used), most: bytes(capture.bytes) }) :
            has ? t("server.capture.kept", { used: bytes(capture.used), time: duration(capture.stays_ms) }) : t("server.capture.off")}</span>
        ${isAdmin.value && html`<span class="row">
            ${!capture.on && html`<${Button} small onClick=${() => setAsking(true)}>${t("server.capture.begin")}<//>`}
            ${has && html`<${Button} small icon="stop" onClick=${stop}>${t("server.capture.stop")}<//>`}</span>`}
        ${asking && html`<${Begin} close=${() => setAsking(false)} />`}
    </div>`;
}
