/* What the parts of the chat view share: which panel, dialog or editor is open. */
import { effect, signal } from "../../lib/html.js";

const SEND = "quince.send";

export const panelOpen = signal(false);
/* Id of the message that is being edited; "" for none. */
export const editing = signal("");
/* {conversation, id}: two answers are compared, beginning with this one; null for none. */
export const comparing = signal(null);
/* Whether Enter makes a line and Ctrl+Enter sends, instead of Enter alone. Kept in this browser. */
export const enterIsLine = signal(localStorage.getItem(SEND) === "mod+enter");
effect(() => {
    localStorage.setItem(SEND, enterIsLine.value ? "mod+enter" : "enter");
});
