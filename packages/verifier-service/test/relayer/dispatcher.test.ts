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
/** Gas of a transaction without payments. */
const BASE_GAS = 50_000n;

describe("the dispatcher of payments", () => {
  let now: number;
  let store: Store;
  let estimates: number;
  /** Of each payment; undefined: an estimate reverts. */
  let gas: bigint | undefined;
  let sent: Plan[];
  /** Gas that an account can pay for. */
  let payable: bigint;
  beforeEach(async () => {
    [now, estimates, gas, sent, payable] = [NOW, 0, undefined, [], 100_000_000n];
    store = await openStore({ url: "sqlite::memory:", clock: () => now });
  });
  afterEach(() => store.close());

  /** Queues payments. @returns dispatches them */
  async function open(...ids: readonly string[]): Promise<() => Promise<boolean>> {
    const lease = (await store.leases.acquire("relayer", "me", 600_000))!;
    const validUntil = SECONDS + 600;
    const words = (count: number) => Array.from({ length: count }, () => "1");
    const call = { proof: words(8), signals: words(10), validUntil, resourceDigest: `0x${"22".repeat(32)}` };
    for (const [index, id] of ids.entries()) {
      const own = { id, nullifier: String(index), digest: `0x${index}`, bundle: "{}", recipient: "0x01", client: "c" };
      await store.reservations.reserve({ ...own, expiresAt: NOW + 300_000, validUntil });
      await store.operations.enqueuePayment(id, () => call);
    }
    const chain = {
      useNode: (run: (node: unknown) => unknown) => run(chain),
      assertHas: async () => {},
      call: async ({ data }: { data: string }) => {
        const [payments] = poolInterface.decodeFunctionData("settle", data);
        return poolInterface.encodeFunctionResult("settle", [Array.from({ length: payments.length }, () => 0)]);
      },
      async estimateGas({ data }: { data: string }) {
        estimates += 1;
        if (gas === undefined) throw new CallReverted("0x");
        const [payments] = poolInterface.decodeFunctionData("settle", data);
        return BASE_GAS + gas * BigInt(payments.length);
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
    const sender = {
      async send(plan: Plan) {
        if (plan.gasLimit > payable) return "RELAYER_BALANCE_LOW";
        sent.push(plan);
        return "sent";
      },
      payableGas: async () => payable,
    } as unknown as Sender;
    const dispatcher = new Dispatcher(context, sender);
    const round = { lease, head: { timestamp: SECONDS, number: 1 } } as Round;
    return async () => dispatcher.dispatchPayments(round, await store.operations.queuedPayments(100), new Set());
  }

  it("backs off while gas cannot be estimated, although the simulation succeeds, and then sends", async () => {
    const dispatch = await open("a");
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
    expect(sent.map(({ gasLimit }) => gasLimit)).to.deep.equal([562_500n]);
  });

  it("sends as many payments as an account can pay for, and asks no node for more estimates than that takes", async () => {
    const ids = Array.from({ length: 64 }, (_, index) => `p${String(index).padStart(2, "0")}`);
    const dispatch = await open(...ids);
    [gas, now] = [100_000n, now + 1_000];
    for (const count of [41, 22, 2, 1]) {
      payable = ((BASE_GAS + gas * BigInt(count)) * 5n) / 4n;
      const [asked, before] = [estimates, sent.length];
      expect(await dispatch()).to.equal(true);
      expect(sent.slice(before).map(({ operationIds }) => operationIds)).to.deep.equal([ids.slice(0, count)]);
      expect(estimates - asked).to.be.at.most(3);
    }
    const asked = estimates;
    payable = 0n;
    expect(await dispatch()).to.equal(false);
    expect(estimates).to.equal(asked + 1);
    expect(await store.operations.get("p63")).to.include({ state: "queued", reason: "RELAYER_BALANCE_LOW" });
  });
});
