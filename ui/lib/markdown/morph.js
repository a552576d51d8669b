/* Makes the children of one element equal to those of another by changing as little as possible, so
 * that a selection in text that stays is kept, and the browser lays out only what has changed. */

function sameKind(a, b) {
    return a.nodeType === b.nodeType && a.nodeName === b.nodeName;
}

function copyAttributes(from, to) {
    for (const { name } of [...to.attributes])
        if (!from.hasAttribute(name))
            to.removeAttribute(name);
    for (const { name, value } of from.attributes)
        if (to.getAttribute(name) !== value)
            to.setAttribute(name, value);
}

/* target gets the children of source, which is used up. */
export function morph(target, source) {
    let old = target.firstChild;
    for (let next = source.firstChild; next;) {
        const after = next.nextSibling;
        if (!old) {
            target.append(next);
        } else {
            const oldAfter = old.nextSibling;
            if (!old.isEqualNode(next))
                exchange(old, next);
            old = oldAfter;
        }
        next = after;
    }
    while (old) {
        const after = old.nextSibling;
        old.remove();
        old = after;
    }
}

function exchange(old, next) {
    if (!sameKind(old, next)) {
        old.replaceWith(next);
    } else if (old.nodeType === Node.TEXT_NODE) {
        if (next.data.startsWith(old.data))
            old.appendData(next.data.slice(old.data.length));
        else
            old.data = next.data;
    } else if (old.nodeName === "FIGURE" || old.nodeName === "BUTTON") {
        old.replaceWith(next); /* their listeners belong to them */
    } else {
        copyAttributes(next, old);
        morph(old, next);
    }
}
