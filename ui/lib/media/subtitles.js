/* A transcript as a file. Segments are {start, end, text}, times in seconds. Pure.
 * SubRip has no mark-up; WebVTT: https://www.w3.org/TR/webvtt1/#file-structure */

const two = (n) => String(n).padStart(2, "0");

/* 3661.25, "," -> "01:01:01,250" */
export function timestamp(seconds, point) {
    const ms = Math.round(seconds * 1000), s = Math.floor(ms / 1000);
    return `${two(Math.floor(s / 3600))}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}${point}${String(ms % 1000).padStart(3, "0")}`;
}

/* 75 -> "1:15", for reading. */
export function shortTime(seconds) {
    const s = Math.floor(seconds);
    return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

/* An empty line would end the subtitle. */
const oneLine = (text) => text.trim().replace(/\s+/g, " ");

export const toSrt = (segments) => segments.map(({ start, end, text }, i) =>
    `${i + 1}\n${timestamp(start, ",")} --> ${timestamp(end, ",")}\n${oneLine(text).replaceAll("-->", "->")}\n\n`).join("");

const REFERENCES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export const toVtt = (segments) => "WEBVTT\n\n" + segments.map(({ start, end, text }) =>
    `${timestamp(start, ".")} --> ${timestamp(end, ".")}\n${oneLine(text).replace(/[&<>]/g, (c) => REFERENCES[c])}\n\n`).join("");

export const toText = (segments) => segments.map(({ text }) => oneLine(text)).join("\n") + "\n";
