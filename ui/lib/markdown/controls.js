/* Characters that change the direction in which text is shown. In ordinary text the embeddings and
 * overrides, in code all of them are replaced by their number, so that what is read is what is
 * there. Texts in right-to-left scripts need none of those. Pure. */

const OVERRIDES = /[\u202A-\u202E]/g;
const ALL = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

const name = (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;

export const plainControls = (text) => text.replace(OVERRIDES, name);
export const codeControls = (text) => text.replace(ALL, name);
