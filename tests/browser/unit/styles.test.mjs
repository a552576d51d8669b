// Style sheets of views stay once they are loaded: one view's must not change the looks of another.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { ROOT } from "../server.mjs";

const SHARED = ["base", "components", "shell"], VIEWS = ["chat", "models", "media", "server"];

/* The selectors of a style sheet, without those of @-rules. */
function selectors(sheet) {
    return [...sheet.replace(/\/\*.*?\*\//gs, "").matchAll(/([^{}]+)\{/g)]
        .map(([, list]) => list.trim()).filter((list) => !list.startsWith("@"))
        .flatMap((list) => list.split(/,(?![^()]*\))/)).map((one) => one.trim());
}

/* The classes at a selector's beginning, on which everything else in it depends: ".a.b .c" has a and b. */
const roots = (selector) => [...selector.split(/[\s>+~]/)[0].matchAll(/\.([a-z][\w-]*)/gi)].map(([, name]) => name);

const sheets = new Map([...SHARED, ...VIEWS].map((name) =>
    [name, selectors(readFileSync(path.join(ROOT, `ui/styles/${name}.css`), "utf8"))]));
const rootsOf = (name) => new Set(sheets.get(name).flatMap(roots));

test("a class at the beginning of a selector is found", () => {
    assert.deepEqual(selectors("/* .x */ .a .b, .c:is(.d, .e) > f { } @media (x) { .g { h: 1 } }"), [".a .b", ".c:is(.d, .e) > f", ".g"]);
    assert.deepEqual(roots(".a.b-c .d"), ["a", "b-c"]);
    assert.deepEqual(roots("a[href].e > .f"), ["e"]);
    assert.deepEqual(roots("pre .g"), []);
});

test("no two views style the same class", () => {
    for (const [i, one] of VIEWS.entries())
        for (const other of VIEWS.slice(i + 1))
            assert.deepEqual([...rootsOf(one)].filter((name) => rootsOf(other).has(name)), [], `${one}.css and ${other}.css`);
});

test("a view changes what all share only within a class of its own", () => {
    const shared = new Set(SHARED.flatMap((name) => [...rootsOf(name)]));
    for (const view of VIEWS.filter((name) => name !== "chat"))
        for (const selector of sheets.get(view)) {
            const own = roots(selector).filter((name) => !shared.has(name));
            assert.ok(own.length, `${view}.css: ${selector}`);
        }
});

test("the dark theme that is chosen and the system's are the same", () => {
    const tokens = readFileSync(path.join(ROOT, "ui/styles/tokens.css"), "utf8");
    const [chosen, system] = ["dark", "system"].map((theme) => tokens.match(new RegExp(`data-theme="${theme}"\\] \\{([^}]*)`))[1]);
    assert.equal(system, chosen);
});
