/* Copies and saves texts. The clipboard's own interface exists on secure addresses only; elsewhere
 * (http:// on another machine) a selection is copied. */
export async function copyText(text) {
    if (navigator.clipboard && window.isSecureContext) {
        await navigator.clipboard.writeText(text);
        return;
    }
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    const before = document.activeElement;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    before?.focus?.();
}

export function downloadBlob(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

export const downloadText = (text, name, type = "text/plain") => downloadBlob(new Blob([text], { type }), name);
