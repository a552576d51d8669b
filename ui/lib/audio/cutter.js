/* Where a recording is cut into pieces, so that each can be transcribed while the next one is spoken:
 * in pauses, and at the latest after some seconds. Pure. */

const LEAST_MS = 3000, MOST_MS = 15000, PAUSE_MS = 500;
/* Levels (root of the mean square, 0 to 1): louder than this is speech if it also stands out from the
 * quietest that was heard. */
const QUIET = 0.01, ABOVE_NOISE = 3;

export class Cutter {
    #noise = 1;
    #length = 0;
    #pause = 0;
    #heard = false;

    /* level: of the last `ms` milliseconds. Returns "cut" when a piece ends here, "drop" when one ends in
     * which nothing was said, else "". */
    feed(level, ms) {
        this.#noise = Math.min(this.#noise * 1.002, Math.max(level, 0.0005)); /* it follows a room that becomes louder */
        this.#length += ms;
        const speech = level > QUIET && level > this.#noise * ABOVE_NOISE;
        this.#heard ||= speech;
        this.#pause = speech ? 0 : this.#pause + ms;
        const ends = this.#length >= MOST_MS || (this.#length >= LEAST_MS && this.#pause >= PAUSE_MS);
        return ends ? this.end() : "";
    }

    /* Ends the piece now. */
    end() {
        const result = this.#heard ? "cut" : "drop";
        this.#length = this.#pause = 0;
        this.#heard = false;
        return result;
    }
}
