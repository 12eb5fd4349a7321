// Serves the web app as `npm run dev` does, on a free port.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createWebHost } from "@sotto/dev/web";
import { root } from "@sotto/keys/circuits/paths";

export interface WebHost {
  readonly url: string;
  close(): void;
}

/** @param configuration the content of sotto.json */
export async function openWebHost(configuration: object = {}): Promise<WebHost> {
  const server = createServer(createWebHost(join(root, "packages", "web", "dist"), () => configuration));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
