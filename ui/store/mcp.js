/* The MCP servers of the user. The quince server stores and runs them, and sends the event "mcp" when one of
 * them has changed. */
import { signal, useEffect } from "../lib/html.js";
import { del, get, patch, post } from "../lib/client.js";
import { heard, watchEvents } from "./chat_events.js";
import { resource } from "./resource.js";
import { epoch } from "./session.js";

const SOON_MS = 150; /* changes within this time cause one request */

const list = resource(async () => (await get("/internal/mcp")).servers);

/* {data: servers as returned by GET /internal/mcp, error} */
export const mcpServers = list.state;
export const loadMcp = list.load;
/* Ids of the servers for which a refresh is in progress. */
export const refreshing = signal(new Set());

/* Loads the list of servers when the component is mounted, and again after each change until it is
 * unmounted. */
export function useMcp() {
    const round = epoch.value;
    useEffect(() => {
        let timer = 0;
        loadMcp();
        const drop = heard(({ type }) => {
            if (type !== "mcp" && type !== "resync")
                return;
            clearTimeout(timer);
            timer = setTimeout(loadMcp, SOON_MS);
        });
        const end = watchEvents(loadMcp);
        return () => {
            clearTimeout(timer);
            drop();
            end();
        };
    }, [round]);
    return mcpServers.value;
}

/* Inserts the server into the list, or replaces its old entry. */
function note(server) {
    const all = mcpServers.peek().data ?? [], known = all.some((one) => one.id === server.id);
    const data = known ? all.map((one) => one.id === server.id ? server : one) : [...all, server];
    mcpServers.value = { ...mcpServers.peek(), data: data.sort((a, b) => a.name.localeCompare(b.name)), error: null };
    return server;
}

export const addMcp = async (body) => note(await post("/internal/mcp", body));
export const changeMcp = async (id, set) => note(await patch(`/internal/mcp/${id}`, set));

export async function removeMcp(id) {
    await del(`/internal/mcp/${id}`);
    mcpServers.value = { ...mcpServers.peek(), data: (mcpServers.peek().data ?? []).filter((one) => one.id !== id) };
}

/* Starts the server if it does not run, and requests its tools again. */
export async function refreshMcp(id) {
    refreshing.value = new Set([...refreshing.peek(), id]);
    try {
        return note(await post(`/internal/mcp/${id}/refresh`));
    } finally {
        refreshing.value = new Set([...refreshing.peek()].filter((one) => one !== id));
    }
}
