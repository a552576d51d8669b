/* Why an answer ended before it was complete, with what can be done about it. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { Icon } from "../../components/icon.js";

/* The evidence that a model's process has left, in lines. */
function evidence(report) {
    if (!report || typeof report === "string")
        return report || null;
    const end = report.signal_name ?? (report.signal ? `signal ${report.signal}` : null) ??
        (report.exit_code === null || report.exit_code === undefined ? null : `exit code ${report.exit_code}`);
    const log = Array.isArray(report.log) ? report.log.join("\n") : report.log;
    return [end, log].filter(Boolean).join("\n") || JSON.stringify(report, null, 2);
}

/* The next step after an error, as texts' keys; the first that fits, else a general one. */
const STEPS = [
    [/memory|oom/i, "chat.step.memory"],
    [/context|too.?long|exceed/i, "chat.step.context"],
    [/crash|backend|signal|exit/i, "chat.step.crash"],
    [/not.?found|no such model/i, "chat.step.missing"],
    [/queue|overload|busy|rate/i, "chat.step.busy"],
];

export function stepFor(error) {
    const about = `${error.code ?? ""} ${error.message ?? ""}`;
    return STEPS.find(([pattern]) => pattern.test(about))?.[1] ?? "chat.step.other";
}

export function Failure({ error, model, retry }) {
    const step = stepFor(error);
    const shown = { message: error.message, status: error.status ?? 500, details: { log: evidence(error.report ?? error.details?.log) } };
    return html`<${ErrorBox} error=${shown} retry=${retry}>
        <p class="hint">${t(step)}</p>
        <p class="row">
            <a href=${href("server", "logs", { model })}>${t("chat.see_log")}</a>
            <a href=${href("models")}>${t("chat.see_models")}</a>
        </p>
    <//>`;
}

const NOTES = { stopped: "chat.ended.stopped", cut: "chat.ended.cut", interrupted: "chat.ended.interrupted" };
/* Reasons why an answer with tool calls is not continued automatically. */
const CUTS = { rounds: "chat.ended.rounds", full: "chat.ended.full" };

/* Shows a line for an answer that is incomplete but has not failed. Its button calls goOn, which continues
 * the answer where it ended; or `again`, which answers the message anew, if tools were called and returned no
 * results. */
export function EndNote({ message: { state, finish, calls }, goOn, again }) {
    const note = CUTS[finish] ?? NOTES[state], anew = calls?.length > 0 && !CUTS[finish];
    return note && html`<p class="end-note"><${Icon} name="info" size="16" /> ${t(note)}
        ${finish !== "full" && html`<${Button} small kind="quiet" icon=${anew ? "retry" : "play"} onClick=${anew ? again : goOn}>${t(anew ? "chat.retry" : "chat.continue")}<//>`}</p>`;
}
