import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { artifactPaths, root } from "@sotto/keys/circuits/paths";
import { build } from "esbuild";

const ASSETS = join(root, "packages", "web", "dist", "assets");

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/**
 * Serves an empty page with a script of this folder, the web app's worker, and the circuits' files by hash, as a service
 * does.
 * @param script name of the script; the server bundles it
 * @returns `worker` is the path of the app's prover worker
 */
export async function openPageServer(script: string): Promise<{ url: string; worker: string; close(): void }> {
  const worker = readdirSync(ASSETS).find((file) => /^prover\.worker-.*\.js$/.test(file));
  if (worker === undefined) throw new Error("packages/web is not built: its prover's worker is missing");
  const options = { bundle: true, write: false, format: "esm", platform: "browser", logLevel: "error" } as const;
  const { outputFiles } = await build({ entryPoints: [join(import.meta.dirname, script)], ...options });
  const bundle = outputFiles[0]!.text;
  const paths = (["payment", "elgamal_range"] as const).flatMap((name) => Object.values(artifactPaths(name)));
  const files = new Map<string, string>();
  for (const path of paths.filter((path) => /\.(wasm|zkey|vkey\.json)$/.test(path)))
    files.set(`/artifacts/${sha256(readFileSync(path))}`, path);
  for (const file of readdirSync(ASSETS)) files.set(`/assets/${file}`, join(ASSETS, file));
  const server = createServer(({ url = "" }, response) => {
    const path = files.get(url);
    if (url === "/")
      response.setHeader("content-type", "text/html").end('<script type="module" src="/bench.js"></script>');
    else if (url === "/bench.js") response.setHeader("content-type", "text/javascript").end(bundle);
    else if (path === undefined) response.writeHead(404).end();
    else
      response
        .setHeader("content-type", path.endsWith(".js") ? "text/javascript" : "application/octet-stream")
        .end(readFileSync(path));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, worker: `/assets/${worker}`, close: () => server.close() };
}
