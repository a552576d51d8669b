/* Texts in the chosen language. t("models.pull", {name}) looks up a text of strings/LANGUAGE;
 * {name} in it is replaced. A text that depends on a number n is an object of plural forms. */
import { signal } from "./html.js";

const LANGUAGE = "quince.language";
/* The languages, each named in itself. */
export const LANGUAGES = { en: "English", de: "Deutsch" };

export const language = signal("en");
let texts = {};
let plurals = new Intl.PluralRules("en");

function preferred() {
    const saved = localStorage.getItem(LANGUAGE);
    if (saved in LANGUAGES)
        return saved;
    const known = navigator.languages.map((l) => l.slice(0, 2)).find((l) => l in LANGUAGES);
    return known || "en";
}

/* Loads a language's texts; without a name the one that the reader prefers. */
export async function useLanguage(name = preferred(), { keep = false } = {}) {
    const module = await import(`../strings/${name}/index.js`);
    texts = module.default;
    plurals = new Intl.PluralRules(name);
    if (keep)
        localStorage.setItem(LANGUAGE, name);
    document.documentElement.lang = name;
    language.value = name;
}

/* The text named key. A key without a text is shown as it is, so that it is noticed. */
export function t(key, values = {}) {
    language.value; /* what shows a text is drawn again in another language */
    let text = texts[key];
    if (text === undefined)
        return key;
    if (typeof text === "object")
        text = text[plurals.select(values.n)] ?? text.other;
    return text.replace(/\{(\w+)\}/g, (whole, name) => {
        const value = values[name];
        return typeof value === "number" ? number(value) : value ?? whole;
    });
}

const formats = new Map();

/* A cached formatter of Intl for the current language. */
export function format(kind, options) {
    const name = kind + language.value + JSON.stringify(options);
    if (!formats.has(name))
        formats.set(name, new Intl[kind](language.value, options));
    return formats.get(name);
}

const number = (value) => format("NumberFormat", { maximumFractionDigits: 2 }).format(value);
