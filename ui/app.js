/* The start of the page: language, theme, address, keys; then the shell, which shows the view that
 * the address names, in place of the frame that index.html shows while the page is loaded. */
import { html, render } from "./lib/html.js";
import { useLanguage } from "./lib/i18n.js";
import { startKeys } from "./lib/keys.js";
import { startOffline } from "./lib/offline.js";
import { startRouting } from "./lib/route.js";
import { startTheme } from "./lib/theme.js";
import { startSession } from "./store/session.js";
import { Shell, startView } from "./components/shell.js";

startTheme();
startRouting();
startKeys();
startView();
await useLanguage();
startSession();
const app = document.getElementById("app");
app.replaceChildren();
render(html`<${Shell} />`, app);
startOffline();
