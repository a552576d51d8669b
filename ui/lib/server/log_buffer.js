/* The lines of the log that the page holds: the newest of them, and which of these match what is
 * searched. Lines are added in bunches; the cost of adding grows with the bunch, not with what is
 * there. Pure. */

/* A line as the page shows it, from an entry of logs/stream. id: LOG-NUMBER, an address of the line. */
export function lineOf(entry, id) {
    /* "TIME level TAG text" */
    const [, level = "", rest = entry.line] = /^\S+ (\w+) (.*)$/s.exec(entry.line) ?? [];
    const text = entry.tag && rest.startsWith(`${entry.tag} `) ? rest.slice(entry.tag.length + 1) : rest;
    return { id, time: entry.timestamp, level: level || entry.severity.toLowerCase(), tag: entry.tag, text, whole: entry.line };
}

/* The id of the request that a line is about, or null. */
export const requestOf = (line) => /\bid=([0-9a-f]{24})\b/.exec(line.text)?.[1] ?? null;

/* {log, seq} of a line's id; null: it is none. */
export function placeOf(id) {
    const [, log, seq] = /^([0-9a-f]{16})-(\d+)$/.exec(id ?? "") ?? [];
    return log ? { log, seq: Number(seq) } : null;
}

const matches = (line, words) => words.every((word) => line.whole.toLowerCase().includes(word));

export class LogBuffer {
    constructor(max) {
        this.max = max;
        this.clear();
        this.words = [];
    }

    clear() {
        this.lines = [];
        this.shown = [];
        this.dropped = 0; /* of shown, at its start, since the last search */
    }

    /* Shows only the lines that contain all words of the text. */
    search(text) {
        this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
        this.shown = this.words.length ? this.lines.filter((line) => matches(line, this.words)) : [...this.lines];
        this.dropped = 0;
    }

    add(lines) {
        for (const line of lines) {
            this.lines.push(line);
            if (!this.words.length || matches(line, this.words))
                this.shown.push(line);
        }
        const over = this.lines.length - this.max;
        if (over <= 0)
            return;
        const gone = new Set(this.lines.splice(0, over));
        let n = 0;
        while (n < this.shown.length && gone.has(this.shown[n]))
            n++;
        this.shown.splice(0, n);
        this.dropped += n;
    }

    /* Index of the line with this id among those shown; -1: it is not there. */
    find(id) {
        return this.shown.findIndex((line) => line.id === id);
    }
}
