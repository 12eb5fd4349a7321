// A wallet in a program whose Uint8Array and ArrayBuffer are not the platform's, as in tests that run under jsdom: what the
// platform makes, such as the bytes of a TextEncoder, are of another realm. Prints what it did.
import { runInNewContext } from "node:vm";

const platformBytes = new Uint8Array(32).map((_, i) => 3 * i + 1);
for (const name of ["Uint8Array", "ArrayBuffer"]) Object.assign(globalThis, { [name]: runInNewContext(name) });

// After the swap, as under jsdom.
const { assertSeed, shieldedAddressOf } = await import("../../src/seed.ts");
const { MemoryStore } = await import("../../src/store/memory.ts");
const DEPLOYMENT = { chainId: 31_337n, pool: `0x${"11".repeat(20)}` };

assertSeed(platformBytes);
const addresses = [platformBytes, new Uint8Array(platformBytes)].map((seed) => shieldedAddressOf(seed, DEPLOYMENT));

const store = new MemoryStore();
await store.put("record", { text: "ä" });
const record = await store.get("record");
await store.close();

console.log(
  JSON.stringify({
    foreign: !(platformBytes instanceof Uint8Array),
    sameAddress: addresses[0] === addresses[1],
    record: record?.value,
  }),
);
