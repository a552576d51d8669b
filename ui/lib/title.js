/* The title of the page, which names what is shown. */
import { useEffect } from "./html.js";

const PRODUCT = "quince";

export function useTitle(text) {
    useEffect(() => {
        document.title = text ? `${text} – ${PRODUCT}` : PRODUCT;
    }, [text]);
}
