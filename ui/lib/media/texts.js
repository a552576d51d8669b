/* Texts that were pasted, and how near their vectors are. Pure. */

/* by: "line" or "paragraph" (divided by empty lines). */
export const splitTexts = (text, by) => text.split(by === "paragraph" ? /\n[^\S\n]*\n/ : "\n")
    .map((part) => part.trim()).filter(Boolean);

/* The cosine of the angle between two vectors; 0 if one of them is 0. */
export function cosine(a, b) {
    let ab = 0, aa = 0, bb = 0;
    for (let i = 0; i < a.length; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa && bb ? ab / Math.sqrt(aa * bb) : 0;
}

/* The similarity of each vector with each other one, as rows. */
export function similarities(vectors) {
    const rows = vectors.map(() => new Array(vectors.length).fill(1));
    for (let i = 0; i < vectors.length; i++)
        for (let j = i + 1; j < vectors.length; j++)
            rows[i][j] = rows[j][i] = cosine(vectors[i], vectors[j]);
    return rows;
}

/* [{a, b, value}] of all pairs, or of those of one text (its index), nearest first. */
export function nearest(rows, one = null) {
    const pairs = [];
    for (let a = 0; a < rows.length; a++)
        for (let b = a + 1; b < rows.length; b++)
            if (one === null || a === one || b === one)
                pairs.push({ a: b === one ? b : a, b: b === one ? a : b, value: rows[a][b] });
    return pairs.sort((x, y) => y.value - x.value);
}

/* The least and the greatest similarity of two different texts. */
export function rangeOf(rows) {
    const values = rows.flatMap((row, i) => row.filter((_, j) => j > i));
    return values.length ? { least: Math.min(...values), most: Math.max(...values) } : { least: 0, most: 1 };
}

/* Where a value lies between two others, from 0 to 1; 1 if they are equal. */
export const shareOf = (value, { least, most }) =>
    most > least ? Math.min(1, Math.max(0, (value - least) / (most - least))) : 1;
