/* The one way from a model's text to elements: marked makes HTML of it (parse.js, where HTML of the
 * model itself becomes text but for a few plain tags), DOMPurify keeps what is allowed here, and the
 * result is a fragment of elements, never a string. Everything not named below is removed: scripts,
 * styles, forms, ids, media, SVG, MathML. Images of other servers become links, since fetching one
 * would tell that server what was talked about. */
import DOMPurify from "dompurify";
import { plainControls } from "./controls.js";

const TAGS = ["a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details", "dfn", "div",
    "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p",
    "pre", "q", "rp", "rt", "ruby", "s", "samp", "small", "strong", "sub", "summary", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "u", "ul", "var", "wbr"];
const ATTRIBUTES = ["align", "alt", "class", "colspan", "href", "rowspan", "src", "start", "title"];
const LINK = /^(?:https?:\/\/[^\s]|mailto:[^\s])/i;
/* Pictures that are in the text itself. No SVG: it is a document of its own. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i;
const CLASS = /^(?:language-[\w+#.-]{1,40}|maths|maths display|plain)$/;

DOMPurify.setConfig({
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOW_UNKNOWN_PROTOCOLS: false,
    KEEP_CONTENT: true,
    RETURN_DOM_FRAGMENT: true,
    RETURN_TRUSTED_TYPE: true,
});

/* href is absolute, since a model knows no addresses of this page. */
function link(element) {
    const href = element.getAttribute("href") ?? "";
    if (!LINK.test(href) || !URL.canParse(href)) {
        element.removeAttribute("href");
        return;
    }
    element.setAttribute("rel", "noreferrer noopener");
    element.setAttribute("target", "_blank");
    element.setAttribute("title", plainControls(href));
}

/* Takes the address away from an image that is not in the text, while it is still in a document that
 * loads nothing. */
function disarm(image) {
    const src = image.getAttribute("src") ?? "";
    if (PICTURE.test(src))
        return;
    image.removeAttribute("src");
    image.setAttribute("data-address", src);
}

/* Such an image becomes its description, as a link where it has an address. */
function describe(image) {
    const address = image.getAttribute("data-address");
    const outside = LINK.test(address) && URL.canParse(address);
    const stand = document.createElement(outside ? "a" : "span");
    stand.className = "picture";
    stand.textContent = plainControls(image.getAttribute("alt") || (outside ? address : "…"));
    if (outside) {
        stand.setAttribute("href", address);
        link(stand);
    }
    image.replaceWith(stand);
}

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
    if (node.nodeName === "A")
        link(node);
    if (node.nodeName === "IMG")
        disarm(node);
    if (node.hasAttribute("class") && !CLASS.test(node.getAttribute("class")))
        node.removeAttribute("class");
});

/* A fragment of this document. */
export function clean(html) {
    const fragment = DOMPurify.sanitize(html);
    for (const image of fragment.querySelectorAll("img[data-address]"))
        describe(image);
    return fragment;
}
