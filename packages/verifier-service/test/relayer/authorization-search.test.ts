import { expect } from "chai";
import { AuthorizationSearch } from "../../src/relayer/authorization-search.ts";
import type { RelayerContext, Round } from "../../src/relayer/context.ts";
import type { Operation } from "../../src/store/index.ts";

const FROM = `0x${"22".repeat(20)}`;
const nonceOf = (id: number) => `0x${id.toString(16).padStart(64, "0")}`;
const deposit = (id: number) =>
  ({ id: String(id), digest: `deposit:${nonceOf(id)}`, call: { from: FROM } }) as Operation;

describe("the search for used authorizations", () => {
  it("starts at a block that has the use, also after a reorganization removed the use while it waited its turn", async () => {
    /** The block in which each authorization was used. */
    const uses = new Map<string, number>();
    const node = {
      assertHas: async () => undefined,
      reads: async (reads: readonly { readonly values: readonly unknown[] }[], block: number) =>
        reads.map(({ values }) => (uses.get(String(values[1])) ?? Number.POSITIVE_INFINITY) <= block),
      logs: async ({ from, to, topics }: { from: number; to: number; topics: readonly (string | string[])[] }) => {
        const used = uses.get([topics[2]].flat().join());
        return used !== undefined && from <= used && used <= to ? [{ transactionHash: `0x${used}` }] : [];
      },
      receipts: async (hashes: readonly string[]) => hashes.map((transactionHash) => ({ transactionHash })),
    };
    const context = {
      chain: {
        useNode: (ask: (one: typeof node) => unknown) => ask(node),
        // Blocks before 95 are too old to be searched.
        block: async (number: number) => ({ timestamp: number < 95 ? 0 : 1_000 }),
      },
      pool: { token: FROM, deploymentBlock: 1 },
      config: { rangeSize: 1, maxAuthorizationAge: 60 },
    } as unknown as RelayerContext;
    const search = new AuthorizationSearch(context);
    const find = async (number: number) => {
      const found = await search.find([deposit(1), deposit(2)], { head: { number, timestamp: 1_000 } } as Round);
      return [...found].map(([id, use]) => [id, use === "unknown" ? use : use.transactionHash]);
    };

    // The first search takes all the ranges of the first round.
    uses.set(nonceOf(1), 10).set(nonceOf(2), 98);
    expect(await find(100)).to.deep.equal([]);
    // The second use is mined again, in a block that this round does not have yet.
    uses.set(nonceOf(2), 101);
    expect(await find(100)).to.deep.equal([["1", "unknown"]]);
    uses.delete(nonceOf(1));
    expect(await find(102)).to.deep.equal([["2", "0x101"]]);
  });
});
