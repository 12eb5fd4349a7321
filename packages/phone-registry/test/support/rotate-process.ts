// Rotates in a separate process that is killed in the middle of a transaction.
// Imports single modules, not the whole package, so that each process starts faster.

import type { RegistryKey } from "../../src/crypto/keys.ts";
import { openRegistry } from "../../src/registry/open.ts";
import type { RegistryOptions } from "../../src/registry/options.ts";

const [store, keysJson, records] = process.argv.slice(2) as [string, string, string];
let left = Number(records);
const read = (keys: { id: string; hex: string }[]): RegistryKey[] =>
  keys.map(({ id, hex }) => ({ id, key: Buffer.from(hex, "hex") }));
const { master, index } = JSON.parse(keysJson) as Record<"master" | "index", { id: string; hex: string }[]>;
const refuse = async (): Promise<never> => {
  throw new Error("nothing is linked here");
};
const options: RegistryOptions = {
  store,
  keys: { master: read(master), index: read(index) },
  chainId: 31337n,
  pool: `0x${"5c".repeat(20)}`,
  service: "https://registry.example/zk",
  signatures: { link: refuse, unlink: refuse },
  sender: { send: refuse },
  onWork(kind) {
    // Each record's data key is wrapped once.
    if (kind !== "encrypt" || !rotating) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  },
};
let rotating = false;
const registry = await openRegistry(options);
rotating = true;
await registry.rotate({ batch: 4 });
