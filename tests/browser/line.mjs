// A proxy before a server, with which a test simulates a failure of the network: cut() drops all open connections; new
// ones are forwarded as before.
import { connect, createServer } from "node:net";

/** Resolves to a proxy of the server at this address: url, cut(), close(). */
export async function openLine(to) {
  const { port } = new URL(to), sockets = new Set();
  const listener = createServer((near) => {
    const far = connect(Number(port), "127.0.0.1");
    for (const [one, other] of [[near, far], [far, near]]) {
      sockets.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => sockets.delete(one) && other.destroy());
    }
  });
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const cut = () => sockets.forEach((socket) => socket.destroy());
  const close = () => new Promise((resolve) => {
    listener.close(resolve);
    cut();
  });
  return { url: `http://localhost:${listener.address().port}`, cut, close };
}
