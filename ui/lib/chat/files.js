/* Which files can be attached to a message, and how. Pure. */

export const FILE_MAX = 64 * 1000 * 1000; /* bytes */
export const FILES_MAX = 16; /* of one message */
export const TEXT_MAX = 1000 * 1000; /* bytes of a file that is sent as text */
/* Text that is pasted becomes a file from this length on. */
export const PASTE_MAX = 8000;

const IMAGES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const AUDIO = ["audio/wav", "audio/x-wav", "audio/wave", "audio/mpeg", "audio/mp3", "audio/flac", "audio/ogg", "audio/webm",
    "audio/mp4", "audio/x-m4a", "audio/aac"];
const TEXT_NAMES = /\.(txt|md|markdown|rst|adoc|org|tex|csv|tsv|log|json|jsonl|ya?ml|toml|ini|cfg|conf|env|xml|html?|css|scss|js|mjs|cjs|jsx|ts|tsx|vue|svelte|py|ipynb|rb|php|pl|lua|r|jl|go|rs|c|h|cc|cpp|hpp|cs|java|kt|scala|swift|m|sh|bash|zsh|fish|ps1|bat|sql|graphql|proto|cmake|mk|gradle|diff|patch|srt|vtt|svg)$/i;
const TEXT_WHOLE = /(^|\/)(Makefile|Dockerfile|LICENSE|README|CMakeLists\.txt|\.gitignore)$/;

/* "image", "audio", "file" (text) or "" for what no model here can read. */
export function kindOf({ type, name }) {
    const plain = type.split(";")[0].toLowerCase();
    if (IMAGES.includes(plain))
        return "image";
    if (AUDIO.includes(plain))
        return "audio";
    if (plain.startsWith("text/") || plain === "application/json" || plain === "application/xml" ||
        TEXT_NAMES.test(name) || TEXT_WHOLE.test(name))
        return "file";
    return "";
}

const NEEDS = { image: "vision", audio: "audio" };

/* Why a file cannot be sent to a model, as the key of a text; "" if it can. capabilities: of the
 * model; null: not known. */
export function refusal(file, capabilities) {
    const kind = file.kind ?? kindOf(file);
    if (kind === "")
        return /pdf$/i.test(file.type) || /\.pdf$/i.test(file.name) ? "chat.file.pdf" : "chat.file.unknown";
    if (file.size > FILE_MAX)
        return "chat.file.large";
    if (kind === "file" && file.size > TEXT_MAX)
        return "chat.file.long";
    if (NEEDS[kind] && capabilities && !capabilities.includes(NEEDS[kind]))
        return `chat.file.no_${kind}`;
    return "";
}
