import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Curator } from "../../src/curator/curator.ts";
import { CLAIMS_PATH, decodeClaim } from "../../src/index.ts";

/** Answers requests below `base` with a curator's files and its endpoint for claims, as its server does. */
export function curatorFetch(base: string, curator: Pick<Curator, "claim">, folder: string): typeof fetch {
  return async (input, init) => {
    const path = String(input).slice(base.length + 1);
    if (path === CLAIMS_PATH) {
      const { claims } = JSON.parse(String(init?.body)) as { claims: unknown[] };
      return Response.json({ results: await curator.claim(claims.map(decodeClaim), "client") });
    }
    const file = join(folder, path);
    return existsSync(file) ? new Response(readFileSync(file)) : new Response(null, { status: 404 });
  };
}
