/* The languages of speech models, as ISO 639-1 codes (639-2 where there is no shorter one). */
import { format } from "../i18n.js";

const CODES = ("af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu haw ha he hi hr ht hu hy id is it " +
    "ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su " +
    "sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo yue zh").split(" ");

/* [[code, name]], sorted by their names in the page's language. */
export function languages() {
    const names = format("DisplayNames", { type: "language" });
    return CODES.map((code) => [code, names.of(code)]).sort(([, a], [, b]) => a.localeCompare(b));
}

/* The name in the page's language of one that has its English name, as the server writes it. */
export function languageName(english) {
    const inEnglish = new Intl.DisplayNames("en", { type: "language" });
    const code = CODES.find((one) => one === english || inEnglish.of(one).toLowerCase() === english.toLowerCase());
    return code ? format("DisplayNames", { type: "language" }).of(code) : english;
}
