// Links or verifies a number in a separate process that is killed at the N-th query or, with `send`, while the code is
// being sent.
// Imports single modules, not the whole package, so that each process starts faster.

import type { RegistryKeys } from "../../src/crypto/keys.ts";
import { openRegistry } from "../../src/registry/open.ts";
import type { RegistryOptions } from "../../src/registry/options.ts";

export interface Crash {
  readonly store: string;
  readonly keys: Record<"master" | "index", { id: string; hex: string }[]>;
  readonly now: number;
  /** Arguments of link or verify. */
  readonly operation: "link" | "verify";
  readonly request: Record<string, unknown>;
  readonly issuedAt: number;
  readonly digest: string;
  /** 1 is the first query of the operation; send: while sending. */
  readonly at: number | "send";
}

const crash = JSON.parse(process.argv[2]!) as Crash;
const read = (keys: { id: string; hex: string }[]) => keys.map(({ id, hex }) => ({ id, key: Buffer.from(hex, "hex") }));
const keys: RegistryKeys = { master: read(crash.keys.master), index: read(crash.keys.index) };
const die = () => process.kill(process.pid, "SIGKILL");
let queries = 0;
let begun = false;
const options: RegistryOptions = {
  store: crash.store,
  keys,
  clock: () => crash.now,
  limits: { codes: { number: [], linked: [], wallet: [], client: [], total: [] } },
  chainId: 31337n,
  pool: `0x${"5c".repeat(20)}`,
  service: "https://registry.example/zk",
  signatures: {
    link: async () => ({ issuedAt: crash.issuedAt, digest: crash.digest }),
    unlink: async () => ({ digest: crash.digest }),
  },
  sender: {
    async send() {
      if (crash.at === "send") die();
    },
  },
  onWork(kind) {
    if (kind !== "query" || !begun) return;
    queries += 1;
    if (queries === crash.at) die();
  },
};
const registry = await openRegistry(options);
begun = true;
await registry[crash.operation](crash.request as never);
await registry.close();
