/* The one import of every view and component: Preact, its hooks, signals, and `html`, the template
 * tag that stands for JSX. */
import { h } from "preact";
import htm from "htm";

export { h, render, Fragment, createContext } from "preact";
export {
    useCallback, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState,
} from "preact/hooks";
export {
    batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect,
} from "@preact/signals";

export const html = htm.bind(h);
