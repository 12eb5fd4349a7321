import { createServer } from "node:net";

/**
 * A free port for a program that needs to be given one. It lies outside the range that systems assign by themselves;
 * otherwise another process could be assigned it before the program listens.
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
