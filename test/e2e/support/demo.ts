// Side effects of the demo that its tests check: temporary files, journals and ports.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");
export const built = join(root, "circuits", "build");

/** A temporary folder for one run of the demo, which must leave no files behind. */
export function ownPlace() {
  const path = mkdtempSync(join(tmpdir(), "sotto-own-"));
  return {
    variables: { TMPDIR: path },
    files: () => readdirSync(path),
    remove: () => rmSync(path, { recursive: true }),
  };
}

/** Ignition's journals of local chains; each run removes its own. */
export const journals = () => {
  const folder = join(root, "ignition", "deployments");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith("local-")) : [];
};

/** Starts a server on a free port. */
export const listen = (): Promise<{ server: Server; port: number }> =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => resolve({ server, port: (server.address() as { port: number }).port }));
  });
