// What the tests of the demo look at beside its output.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");
export const built = join(root, "circuits", "build");

/** A place for the temporary files of one run alone: none may stay. */
export function ownPlace() {
  const path = mkdtempSync(join(tmpdir(), "sotto-own-"));
  return {
    variables: { TMPDIR: path },
    files: () => readdirSync(path),
    remove: () => rmSync(path, { recursive: true }),
  };
}

/** Ignition's journals of local chains: those of other runs go by themselves. */
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
