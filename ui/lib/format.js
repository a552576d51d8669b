/* Numbers, sizes and times as people read them, in the current language. */
import { format, t } from "./i18n.js";

export const number = (value, digits = 0) =>
    format("NumberFormat", { maximumFractionDigits: digits }).format(value);

export const percent = (share) =>
    format("NumberFormat", { style: "percent", maximumFractionDigits: 0 }).format(share);

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/* Bytes in decimal units, as disks and downloads are counted. */
export function bytes(value) {
    if (value === null || value === undefined || Number.isNaN(value))
        return "";
    let n = value, unit = 0;
    while (n >= 1000 && unit < UNITS.length - 1) {
        n /= 1000;
        unit++;
    }
    return `${number(n, n < 10 && unit > 0 ? 1 : 0)} ${UNITS[unit]}`;
}

const AS_MS = 100; /* durations below are in milliseconds */

/* A duration: 0 s, 13 ms, 0.8 s, 42 s, 3 min 20 s, 2 h 5 min. */
export function duration(ms) {
    const s = ms / 1000;
    if (ms >= 1 && ms < AS_MS)
        return t("time.ms", { n: Math.round(ms) });
    if (s < 10)
        return t("time.s", { n: Math.round(s * 10) / 10 });
    if (s < 60)
        return t("time.s", { n: Math.round(s) });
    if (s < 3600)
        return t("time.min_s", { m: Math.floor(s / 60), s: Math.round(s % 60) });
    return t("time.h_min", { h: Math.floor(s / 3600), m: Math.round((s % 3600) / 60) });
}

const STEPS = [["year", 31536e6], ["month", 2592e6], ["week", 6048e5], ["day", 864e5],
    ["hour", 36e5], ["minute", 6e4]];

/* How long ago a time was: "3 hours ago", "yesterday", "now". */
export function ago(when, now = Date.now()) {
    const passed = when - now;
    const [unit, ms] = STEPS.find(([, size]) => Math.abs(passed) >= size) ?? ["second", 1000];
    return format("RelativeTimeFormat", { numeric: "auto" })
        .format(unit === "second" ? 0 : Math.round(passed / ms), unit);
}

export const dateTime = (when) =>
    format("DateTimeFormat", { dateStyle: "medium", timeStyle: "short" }).format(when);
export const clock = (when) => format("DateTimeFormat", { timeStyle: "medium" }).format(when);
export const date = (when) => format("DateTimeFormat", { dateStyle: "medium" }).format(when);
