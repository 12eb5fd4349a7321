import { type Bytes32, foldQueue, NoteTree } from "@sotto/protocol";
import { expect } from "chai";
import { Appender } from "../../src/relayer/appender.ts";
import type { RelayerContext, Round } from "../../src/relayer/context.ts";
import type { Sender } from "../../src/relayer/sender.ts";
import { LOCAL_RELAYER_CONFIG } from "../../src/relayer/types.ts";

const POOL = `0x${"11".repeat(20)}`;
const [APPENDED, QUEUED] = [10_100, 3];
const leaves = Array.from({ length: APPENDED + QUEUED }, (_, i) => BigInt(i + 1));
/** Two checkpoints: the first ends where the tree does, the second where the queue does. */
const FIRST: Bytes32 = `0x${"22".repeat(32)}`;
const CHECKPOINTS = [FIRST, leaves.slice(APPENDED).reduce(foldQueue, FIRST)];
const rootOf = (size: number) => String(new NoteTree(leaves.slice(0, size)).root);

/** Starts an appender on a pool with these leaves. @returns new roots that it proves, and codes that it logs */
async function start(root: string): Promise<{ proved: string[]; failed: unknown[] }> {
  const proved: string[] = [];
  const failed: unknown[] = [];
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const rows = leaves.map((leaf, index) => ({ leaf_index: index, commitment: String(leaf), block_number: 7 }));
  const context = {
    store: {
      outbox: { open: async () => [] },
      ledger: {
        lastAppend: async () => ({ size: APPENDED, root }),
        leafCount: async () => leaves.length,
        leaves: async (from: number, count: number) => rows.slice(from, from + count),
      },
    },
    chain: {
      // checkpoint(sequence), or queue(): size, appended, due, lastAppended, newest, newestLeaves, newestTime
      call: async ({ data }: { data: string }) =>
        data.length > 10
          ? CHECKPOINTS[Number(`0x${data.slice(10)}`) - 1]
          : `0x${[leaves.length, APPENDED, APPENDED, 1, 2, QUEUED, 1].map(word).join("")}`,
      block: async (number: number) => ({ number, hash: `0x${word(number)}`, timestamp: 1_790_000_000 }),
    },
    pool: { pool: POOL, chainId: 31337n },
    config: { ...LOCAL_RELAYER_CONFIG, appendAfter: 0 },
    clock: () => 1_790_000_000_000,
    log: { debug: () => {}, warn: ({ code }: { code: unknown }) => failed.push(code) },
    metrics: { gauge: () => {} },
  } as unknown as RelayerContext;
  const prover = {
    async prove(_: string, input: { newRoot: bigint }) {
      proved.push(String(input.newRoot));
      throw new Error("the test needs no proof");
    },
  };
  const appender = new Appender(context, {} as Sender, prover as never);
  await appender.append({ head: { number: 7, timestamp: 1_790_000_000 } } as Round, () => {});
  await appender.drain();
  return { proved, failed };
}

describe("the appender's tree", () => {
  it("is hashed with the kernel when a service starts on a pool with many leaves", async () => {
    const { instantiate } = WebAssembly;
    let kernels = 0;
    WebAssembly.instantiate = (async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
      kernels += 1;
      return instantiate(module, imports);
    }) as never;
    try {
      expect((await start(rootOf(APPENDED))).proved).to.deep.equal([rootOf(leaves.length)]);
    } finally {
      WebAssembly.instantiate = instantiate;
    }
    expect(kernels).to.equal(1);
  });

  it("is not used if its root differs from the contract's", async () => {
    const { proved, failed } = await start("5");
    expect(proved).to.deep.equal([]);
    expect(failed).to.deep.equal(["NODE_INCONSISTENT"]);
  });
});
