// Several replicas of the service on one PostgreSQL: the leader relays, the others queue operations and wait.

import { paymentSignals } from "@sotto/protocol";
import { eventually, WAIT } from "@sotto/test-kit/eventually";
import { startPostgres, type TestPostgres } from "@sotto/test-kit/postgres";
import { slow } from "@sotto/test-kit/slow";
import { stopped } from "@sotto/test-kit/stopped";
import { RELAYER_KEY, TestChain } from "@sotto/test-world/relayer/chain";
import { enqueue, leaseRunsOut, Services } from "@sotto/test-world/relayer/service";
import { expect } from "chai";
import { Wallet } from "ethers";
import { Children, ended } from "./support/children.ts";

const CONFIG = { rebroadcastAfter: 300, maxBatch: 8 };
const LOAD = process.env["SOTTO_LONG"] === "1" ? 400 : 48;

describe("replicas on one PostgreSQL", function () {
  slow(this, "a chain and a relayer's rounds");
  let chain: TestChain;
  let postgres: TestPostgres;
  let services: Services;
  let children: Children;
  let storeUrl: string;
  before(async () => {
    [chain, postgres] = await Promise.all([TestChain.open(), startPostgres()]);
  });
  after(() => postgres.stop());
  beforeEach(async () => {
    services = new Services(chain);
    children = new Children(chain);
    storeUrl = await postgres.database();
  });
  afterEach(async () => {
    children.stopAll();
    await services.stopAll();
    await chain.automine(true);
  });

  const nonceOf = () => chain.provider.getTransactionCount(new Wallet(RELAYER_KEY).address);

  it("settle each payment once under load, through any replica", async () => {
    const replicas = await Promise.all([1, 2].map(() => services.start({ storeUrl, config: CONFIG })));
    const payments = await Promise.all(Array.from({ length: LOAD }, () => chain.payment()));
    const outcomes = await Promise.all(
      payments.map(async (payment) => {
        // Both replicas receive the same bundle concurrently, as from a client that retries after a timeout.
        const ids = await Promise.all(replicas.map(({ store }) => enqueue(store, payment)));
        expect(new Set(ids).size).to.equal(1);
        for (const { relayer } of replicas) relayer.wake();
        const both = await Promise.all(replicas.map(({ relayer }) => relayer.waitFor(ids[0]!, WAIT)));
        expect(both[0]).to.deep.equal(both[1]);
        return both[0]!;
      }),
    );
    for (const [i, { state, txHash }] of outcomes.entries()) {
      expect(state).to.equal("settled");
      expect(await chain.settlements(paymentSignals(payments[i]!.signals).nullifier)).to.deep.equal([txHash]);
    }
    const leaders = await Promise.all(replicas.map(async ({ relayer }) => (await relayer.status()).leader));
    expect(leaders.filter(Boolean)).to.have.length(1);
  });

  it("continue if the leader is killed", async () => {
    const leader = await children.start({ storeUrl, config: CONFIG, fault: { point: "send", when: "after" } });
    const second = await services.start({ storeUrl, config: CONFIG });
    const nonce = await nonceOf();
    const dead = ended(leader);
    const payments = await Promise.all(Array.from({ length: 10 }, () => chain.payment()));
    const ids: string[] = [];
    for (const payment of payments) ids.push(await enqueue(second.store, payment));
    expect(await dead).to.equal("SIGKILL");
    await leaseRunsOut(second.store);
    const outcomes = await Promise.all(ids.map((id) => second.relayer.waitFor(id, WAIT)));
    for (const [i, { state, txHash }] of outcomes.entries()) {
      expect(state).to.equal("settled");
      expect(await chain.settlements(paymentSignals(payments[i]!.signals).nullifier)).to.deep.equal([txHash]);
    }
    expect((await nonceOf()) - nonce).to.equal(new Set(outcomes.map(({ txHash }) => txHash)).size);
  });

  it("are not disturbed by a paused former leader", async () => {
    const pause = { point: "send", when: "before", signal: "SIGSTOP" } as const;
    const leader = await children.start({ storeUrl, config: CONFIG, fault: pause });
    const other = await services.start({ storeUrl, config: CONFIG });
    const payments = await Promise.all(Array.from({ length: 6 }, () => chain.payment()));
    const ids: string[] = [];
    for (const payment of payments.slice(0, 3)) ids.push(await enqueue(other.store, payment));
    await stopped(leader);
    expect((await other.relayer.status()).leader).to.equal(false);
    await leaseRunsOut(other.store);
    await eventually(async () => (await other.relayer.status()).leader);
    leader.kill("SIGCONT");
    for (const payment of payments.slice(3)) ids.push(await enqueue(other.store, payment));
    const outcomes = await Promise.all(ids.map((id) => other.relayer.waitFor(id, WAIT)));
    for (const [i, { state, txHash }] of outcomes.entries()) {
      expect(state).to.equal("settled");
      expect(await chain.settlements(paymentSignals(payments[i]!.signals).nullifier)).to.deep.equal([txHash]);
    }
  });

  it("continue if a round of the leader hangs, whose late signature sends nothing", async () => {
    const key = new Wallet(RELAYER_KEY);
    let sign: () => void = () => {};
    const signatures: string[] = [];
    const signer = {
      address: key.address,
      async signTransaction(transaction: Parameters<Wallet["signTransaction"]>[0]) {
        await new Promise<void>((resolve) => {
          sign = resolve;
        });
        const raw = await key.signTransaction(transaction);
        signatures.push(raw);
        return raw;
      },
    };
    const config = { ...CONFIG, leaseTtl: 9_000, stalledAfter: 10_000 };
    const first = await services.start({ storeUrl, config, accounts: [{ signer }] });
    await eventually(async () => (await first.relayer.status()).leader);
    const second = await services.start({ storeUrl, config });
    const nonce = await nonceOf();
    const payment = await chain.payment();
    const id = await enqueue(second.store, payment);
    const { state, txHash } = await second.relayer.waitFor(id, WAIT);
    expect(state).to.equal("settled");
    expect(first.counts.get("relayer_errors_total")).to.equal(1);
    expect((await first.relayer.status()).leader).to.equal(false);
    expect(signatures).to.deep.equal([]);
    sign();
    await eventually(async () => first.log.some(({ fields }) => (fields as { code?: string }).code === "LEASE_LOST"));
    expect([signatures.length, first.counts.get("relayer_transactions_total")]).to.deep.equal([1, undefined]);
    expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([txHash]);
    expect((await nonceOf()) - nonce).to.equal(1);
    // The first one can lead again.
    await services.stop(second);
    const next = await enqueue(first.store, await chain.payment());
    const settled = first.relayer.waitFor(next, WAIT);
    await eventually(async () => {
      sign();
      return (await first.store.operations.get(next))?.state === "settled";
    });
    expect((await settled).state).to.equal("settled");
  });

  it("recover from the loss of all connections", async () => {
    const { relayer, store } = await services.start({ storeUrl, config: CONFIG });
    await eventually(async () => (await relayer.status()).leader);
    const id = await enqueue(store, await chain.payment());
    await postgres.disconnectAll();
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
  });
});
