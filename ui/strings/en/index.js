/* All texts in this language. */
import chat from "./chat.js";
import media from "./media.js";
import models from "./models.js";
import server from "./server.js";
import settings from "./settings.js";
import shell from "./shell.js";

export default { ...shell, ...chat, ...models, ...media, ...server, ...settings };
