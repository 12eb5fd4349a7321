import { createLog } from "@sotto/server";
import { expect } from "chai";
import type { RelayerContext } from "../../src/relayer/context.ts";
import { type Parts, RelayerLoop } from "../../src/relayer/relayer.ts";
import { LOCAL_RELAYER_CONFIG } from "../../src/relayer/types.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { NOW, newDeposit } from "../store/test-stores.ts";

describe("a request that waits for an outcome", () => {
  let store: Store;
  let loop: RelayerLoop;
  let now: number;

  beforeEach(async () => {
    now = NOW;
    store = await openStore({ url: "sqlite::memory:", clock: () => now });
    const context = {
      store,
      config: LOCAL_RELAYER_CONFIG,
      clock: () => now,
      monotonic: () => performance.now(),
      metrics: { count: () => {}, gauge: () => {}, accounts: () => {}, leads: () => {}, settledAfter: () => {} },
      log: createLog("silent", { write: () => undefined }),
    };
    // The loop does not run, as on a replica that does not lead.
    loop = new RelayerLoop(context as unknown as RelayerContext, {} as unknown as Parts);
    await store.operations.enqueueDeposit(newDeposit("id", { amount: 4n, balance: 10n }));
  });
  afterEach(() => store.close());

  it("ends in time although the relayer's clock stands still or is set back", async () => {
    expect((await loop.waitFor("id", 30)).state).to.equal("pending");
    const waiting = loop.waitFor("id", 150);
    now -= 3_600_000;
    expect((await waiting).state).to.equal("pending");
  });

  it("does not end early if the relayer's clock is set ahead", async () => {
    const client = new AbortController();
    const waiting = loop.waitFor("id", 3_600_000, client.signal);
    now += 86_400_000;
    // Longer than the poll interval of a replica.
    const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 300, "waits"))]);
    expect(early).to.equal("waits");
    client.abort();
    expect(await waiting).to.include({ state: "pending" });
  });
});
