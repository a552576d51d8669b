/* The difference of two texts by words, after Myers (An O(ND) Difference Algorithm, 1986). Pure. */

const STEPS_MAX = 3000; /* differing words; beyond that the rest counts as different */

const words = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/* The furthest points of each round, for the way back. */
function rounds(a, b) {
    const reach = new Map([[1, 0]]), all = [];
    for (let d = 0; d <= Math.min(a.length + b.length, STEPS_MAX); d++) {
        all.push(new Map(reach));
        for (let k = -d; k <= d; k += 2) {
            const down = k === -d || (k !== d && reach.get(k - 1) < reach.get(k + 1));
            let x = down ? reach.get(k + 1) : reach.get(k - 1) + 1;
            while (x < a.length && x - k < b.length && a[x] === b[x - k])
                x++;
            reach.set(k, x);
            if (x >= a.length && x - k >= b.length)
                return all;
        }
    }
    return null;
}

function trace(a, b, all) {
    const steps = [];
    let x = a.length, y = b.length;
    for (let d = all.length - 1; d >= 0; d--) {
        const reach = all[d], k = x - y;
        const down = k === -d || (k !== d && reach.get(k - 1) < reach.get(k + 1));
        const before = down ? k + 1 : k - 1;
        const toX = d === 0 ? 0 : reach.get(before), toY = d === 0 ? 0 : toX - before;
        while (x > toX && y > toY) {
            steps.push(["same", a[x - 1]]);
            x--;
            y--;
        }
        if (d > 0)
            steps.push(down ? ["in", b[y - 1]] : ["out", a[x - 1]]);
        x = toX;
        y = toY;
    }
    return steps.reverse();
}

/* [{kind: "same" | "out" | "in", text}]: "out" is in the first text only, "in" in the second. */
export function diffWords(one, other) {
    const a = words(one), b = words(other);
    let head = 0, tail = 0;
    while (head < a.length && head < b.length && a[head] === b[head])
        head++;
    while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail))
        tail++;
    const middleA = a.slice(head, a.length - tail), middleB = b.slice(head, b.length - tail);
    const all = rounds(middleA, middleB);
    const middle = all ? trace(middleA, middleB, all) :
        [["out", middleA.join("")], ["in", middleB.join("")]];
    const parts = [];
    for (const [kind, text] of [["same", a.slice(0, head).join("")], ...middle, ["same", tail ? a.slice(-tail).join("") : ""]])
        if (text && parts.at(-1)?.kind === kind)
            parts.at(-1).text += text;
        else if (text)
            parts.push({ kind, text });
    return parts;
}
