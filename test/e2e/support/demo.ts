// What the tests of the demo look at beside its output.
import { existsSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");
export const built = join(root, "circuits", "build");

/** Folders of stories: none may stay. */
export const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("sotto-demo-"));

/** Ignition's journals of this process's chains: none may stay. */
export const journals = () => {
  const folder = join(root, "ignition", "deployments");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith("local-")) : [];
};

/** A server on a port of its own. */
export const listen = (): Promise<{ server: Server; port: number }> =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => resolve({ server, port: (server.address() as { port: number }).port }));
  });

export const freePort = async () => {
  const { server, port } = await listen();
  await new Promise((resolve) => server.close(resolve));
  return port;
};
