/* The reader's MCP servers: kept by the server, which also runs them and says when anything of them has
 * changed. */
import { signal, useEffect } from "../lib/html.js";
import { del, get, patch, post } from "../lib/client.js";
import { heard, watchEvents } from "./chat_events.js";
import { resource } from "./resource.js";
import { epoch } from "./session.js";

const SOON_MS = 150; /* several changes are read together */

const list = resource(async () => (await get("/internal/mcp")).servers);

/* {data: [server as GET internal/mcp has it], error} */
export const mcpServers = list.state;
export const loadMcp = list.load;
/* Ids of the servers whose tools are being listed anew. */
export const refreshing = signal(new Set());

/* Reads the list while the component is shown, and again after each change. */
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

/* Puts a server, as it is now, into the list. */
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

/* Starts a server if it does not run, and lists its tools. */
export async function refreshMcp(id) {
    refreshing.value = new Set([...refreshing.peek(), id]);
    try {
        return note(await post(`/internal/mcp/${id}/refresh`));
    } finally {
        refreshing.value = new Set([...refreshing.peek()].filter((one) => one !== id));
    }
}
