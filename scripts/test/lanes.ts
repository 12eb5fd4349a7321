// The lanes of `npm test`: how many suites run at the same time, and in which order. turbo would start suites in the order
// in which their builds end, so that long ones run alone at the end of the run. Instead it starts all at once, and each
// waits for a lane, the longest first. A suite holds its lane by a connection, so any end of its process frees the lane.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const HOST = "127.0.0.1";
const GO = "go\n";

export interface Lanes {
  /** For {@link takeLane}. */
  readonly port: number;
  /** Number of suites that wait for a lane. */
  waiting(): number;
  close(): void;
}

interface Waiting {
  readonly socket: Socket;
  /** Position in the order of starts. */
  readonly rank: number;
}

/**
 * @param count number of suites that run at the same time
 * @param longest suites by name, in the order in which they start; the others follow as they arrive
 */
export async function openLanes(count: number, longest: readonly string[]): Promise<Lanes> {
  const waiting: Waiting[] = [];
  const sockets = new Set<Socket>();
  let free = count;
  const grant = () => {
    while (free > 0 && waiting.length > 0) {
      const first = waiting.reduce((best, one) => (one.rank < best.rank ? one : best));
      waiting.splice(waiting.indexOf(first), 1);
      free -= 1;
      first.socket.once("close", () => {
        free += 1;
        grant();
      });
      first.socket.write(GO);
    }
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setEncoding("utf8");
    // A process that was killed resets its connection.
    socket.on("error", () => socket.destroy());
    socket.once("data", (name: string) => {
      const place = longest.indexOf(name.trimEnd());
      waiting.push({ socket, rank: place < 0 ? longest.length : place });
      grant();
    });
    socket.once("close", () => {
      sockets.delete(socket);
      const index = waiting.findIndex((one) => one.socket === socket);
      if (index >= 0) waiting.splice(index, 1);
    });
  });
  server.listen(0, HOST);
  await once(server, "listening");
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, waiting: () => waiting.length, close };
}

/**
 * Waits for a lane, which this process has until it ends.
 * @param suite its name in reports
 * @throws Error if the run ends first
 */
export async function takeLane(port: number, suite: string): Promise<void> {
  const socket = connect(port, HOST);
  socket.setEncoding("utf8");
  socket.write(`${suite}\n`);
  await new Promise<void>((resolve, reject) => {
    socket.once("data", () => resolve());
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the run ended before the suite had a lane")));
  });
  socket.on("error", () => undefined);
  socket.unref();
}
