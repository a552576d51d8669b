/* The geometry of a small plot of values over time. Pure. */

/* The least "round" number (1, 2 or 5 times a power of ten) that is not below value. */
export function roundUp(value) {
    if (!(value > 0))
        return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].find((step) => step * power >= value * (1 - 1e-9)) * power;
}

/* points: [{at: time in ms, value: number or null}], oldest first. The lines of an SVG path in a box of
 * width x height, over the `span` ms that end at `now`; values from 0 at the foot to max. A null, or
 * a time without points that is longer than `gap`, breaks the line. */
export function segments(points, { now, span, max, gap, width, height }) {
    const out = [];
    let line = null, before = 0;
    for (const { at, value } of points) {
        if (at < now - span || value === null || value === undefined) {
            line = null;
            continue;
        }
        const x = width * (1 - (now - at) / span);
        const y = height * (1 - Math.min(Math.max(value / max, 0), 1));
        if (!line || at - before > gap)
            out.push(line = []);
        line.push([Math.round(x * 10) / 10, Math.round(y * 10) / 10]);
        before = at;
    }
    return out;
}

export const linePath = (lines) => lines.map((line) => "M" + line.map((p) => p.join(" ")).join("L")).join("");

/* The areas below the lines. */
export const areaPath = (lines, height) => lines.map((line) =>
    `M${line[0][0]} ${height}L${line.map((p) => p.join(" ")).join("L")}L${line.at(-1)[0]} ${height}Z`).join("");

/* {now, min, max} of the values that are known; null if none is. */
export function summary(points) {
    const values = points.map((p) => p.value).filter((v) => v !== null && v !== undefined);
    return values.length ? { now: values.at(-1), min: Math.min(...values), max: Math.max(...values) } : null;
}
