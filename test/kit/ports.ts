import { createServer } from "node:net";

/**
 * A port for a program that has to be told one. Not of those that systems give out by themselves: until the program
 * listens, whatever runs beside this run would get it.
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
