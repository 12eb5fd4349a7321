import { CallReverted } from "@sotto/chain";
import { poolInterface } from "@sotto/chain/ethers";
import { expect } from "chai";
import type { RelayerContext, Round } from "../../src/relayer/context.ts";
import { Dispatcher } from "../../src/relayer/dispatcher.ts";
import type { Plan, Sender } from "../../src/relayer/sender.ts";
import { LOCAL_RELAYER_CONFIG } from "../../src/relayer/types.ts";
import { openStore, type Store } from "../../src/store/index.ts";

const NOW = 1_790_000_000_000;
const SECONDS = NOW / 1000;
const POOL = `0x${"11".repeat(20)}`;

describe("an operation whose simulation succeeds but whose gas cannot be estimated", () => {
  let now: number;
  let store: Store;
  let estimates: number;
  let gas: bigint | undefined;
  let sent: Plan[];
  beforeEach(async () => {
    [now, estimates, gas, sent] = [NOW, 0, undefined, []];
    store = await openStore({ url: "sqlite::memory:", clock: () => now });
  });
  afterEach(() => store.close());

  it("backs off, and is sent once gas can be estimated", async () => {
    const lease = (await store.leases.acquire("relayer", "me", 600_000))!;
    const validUntil = SECONDS + 600;
    const reservation = { id: "a", nullifier: "7", digest: "0x77", bundle: "{}", recipient: "0x01", client: "c" };
    await store.reservations.reserve({ ...reservation, expiresAt: NOW + 300_000, validUntil });
    const words = (count: number) => Array.from({ length: count }, () => "1");
    const call = { proof: words(8), signals: words(10), validUntil, resourceDigest: `0x${"22".repeat(32)}` };
    await store.operations.enqueuePayment("a", () => call);
    const chain = {
      useNode: (run: (node: unknown) => unknown) => run(chain),
      assertHas: async () => {},
      call: async () => poolInterface.encodeFunctionResult("settle", [[0]]),
      async estimateGas() {
        estimates += 1;
        if (gas === undefined) throw new CallReverted("0x");
        return gas;
      },
    };
    const context = {
      store,
      chain,
      accounts: { caller: { address: POOL }, room: () => ({ room: 4, roomForOthers: 2, roomForFew: 4 }) },
      pool: { pool: POOL },
      config: LOCAL_RELAYER_CONFIG,
      clock: () => now,
      log: { warn: () => {} },
      metrics: { count: () => {} },
    } as unknown as RelayerContext;
    const sender = { send: async (plan: Plan) => sent.push(plan) && "sent" } as unknown as Sender;
    const dispatcher = new Dispatcher(context, sender);
    const round = { lease, head: { timestamp: SECONDS, number: 1 } } as Round;
    const dispatch = async () =>
      dispatcher.dispatchPayments(round, await store.operations.queuedPayments(10), new Set());

    now += 1_000;
    await dispatch();
    expect(estimates).to.equal(1);
    // Each pause is half of the time that the payment has waited, at least a second.
    for (const pause of [1_000, 1_000, 1_500, 2_250]) {
      const before = estimates;
      now += pause - 1;
      await dispatch();
      expect(estimates, `before ${pause} ms`).to.equal(before);
      now += 1;
      await dispatch();
      expect(estimates, `after ${pause} ms`).to.equal(before + 1);
    }
    expect(await store.operations.get("a")).to.include({ state: "queued", reason: "ESTIMATE_FAILED", reverts: 0 });
    [gas, now] = [400_000n, now + 60_000];
    await dispatch();
    expect(sent.map(({ gasLimit }) => gasLimit)).to.deep.equal([500_000n]);
  });
});
