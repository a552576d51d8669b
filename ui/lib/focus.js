/* Where the keyboard is after a change of view: at the new view's heading, so that a screen reader reads
 * it and Tab goes on from there. A view that has put the focus somewhere itself keeps it. */
export function focusHeading() {
    const main = document.getElementById("main");
    if (!main || main.contains(document.activeElement) || document.querySelector("dialog[open]"))
        return;
    const heading = main.querySelector("h1") ?? main;
    if (!heading.hasAttribute("tabindex")) {
        heading.tabIndex = -1;
        heading.addEventListener("blur", () => heading.removeAttribute("tabindex"), { once: true });
    }
    heading.focus({ preventScroll: true });
}
