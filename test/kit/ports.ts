import { createServer } from "node:net";

/**
 * Returns a free port for a program that takes its port as a setting. The port is outside the range that systems assign
 * automatically; otherwise another process could get it before the program listens.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
