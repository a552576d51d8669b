/* A few messages in a row. The browser lays out only those near what is seen, and it watches chunks
 * and not single messages, since that costs time in each frame. Messages in chunks that were far away
 * so far are plain text: the browser can search them, and opening a long chat costs little. */
import { html, useRef } from "../../lib/html.js";
import { Message } from "./message.js";
import { useNear } from "./near.js";

export const CHUNK = 8;

/* ids: of its messages. last: id of the last message of all. near: complete from the start. */
export function Chunk({ conversation, ids, last, near: atOnce, marked }) {
    const element = useRef(null);
    const near = useNear(element, atOnce);
    return html`<div class=${"chunk" + (atOnce ? "" : " far")} ref=${element}>${ids.map((id) => {
        const { ids: all, at } = conversation.branches(id);
        return html`<${Message} key=${id} conversation=${conversation} id=${id} at=${at} of=${all.length} last=${id === last}
            near=${near} marked=${id === marked} />`;
    })}</div>`;
}

/* The chunks of a path. */
export function chunksOf(ids) {
    const all = [];
    for (let at = 0; at < ids.length; at += CHUNK)
        all.push(ids.slice(at, at + CHUNK));
    return all;
}
