/* Light or dark: as the system has it, until one is chosen. */
import { effect, signal } from "./html.js";

const THEME = "quince.theme";
export const THEMES = ["system", "light", "dark"];

const saved = localStorage.getItem(THEME);
export const theme = signal(THEMES.includes(saved) ? saved : "system");

/* Called once, at the start. */
export function startTheme() {
    effect(() => {
        document.documentElement.dataset.theme = theme.value;
        localStorage.setItem(THEME, theme.value);
    });
}
