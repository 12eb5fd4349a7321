// Kills a relayer's process with SIGKILL at every state of the outbox; the next relayer resumes its work.

import { paymentSignals } from "@sotto/protocol";
import { eventually, WAIT } from "@sotto/test-kit/eventually";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { RELAYER_KEY, TestChain } from "@sotto/test-world/relayer/chain";
import {
  authorizedDeposit,
  enqueue,
  enqueueDeposit,
  enqueueWithdrawal,
  Services,
} from "@sotto/test-world/relayer/service";
import { openStore } from "@sotto/verifier-service";
import { expect } from "chai";
import { Wallet } from "ethers";
import { Children, ended } from "./support/children.ts";
import type { Fault } from "./support/fault.ts";

const CONFIG = { rebroadcastAfter: 300 };

type State = readonly [title: string, fault: Fault];

const STORED: State = ["stored, not sent", { point: "outbox.record", when: "after" }];
const SENT: State = ["sent, not noted", { point: "send", when: "after" }];
const MINED: State = ["mined, not noted", { point: "outbox.mined", when: "before" }];

/**
 * By default, tests one state between each pair of writes. A kill before a write, during its transaction, or after the
 * previous write leaves the same database.
 */
const STATES = inLongRun<State>(
  [
    ["while it is stored", { point: "outbox.record", when: "inside" }],
    STORED,
    SENT,
    ["while it is noted as mined", { point: "outbox.mined", when: "inside" }],
    ["final, not noted", { point: "outbox.final", when: "before" }],
    ["while it is noted as settled", { point: "operations.settled", when: "inside" }],
    ["noted as settled, not answered", { point: "operations.settled", when: "after" }],
  ],
  [
    ["before it is stored", { point: "outbox.record", when: "before" }],
    ["about to be sent", { point: "send", when: "before" }],
    ["while it is noted as sent", { point: "outbox.sent", when: "inside" }],
    ["noted as sent", { point: "outbox.sent", when: "after" }],
    MINED,
    ["noted as mined", { point: "outbox.mined", when: "after" }],
    ["before it is noted as settled", { point: "operations.settled", when: "before" }],
  ],
);

describe("kill -9 of the relayer", function () {
  slow(this, "a chain and a relayer's rounds");
  let chain: TestChain;
  let services: Services;
  let children: Children;
  before(async () => {
    chain = await TestChain.open();
  });
  beforeEach(() => {
    services = new Services(chain);
    children = new Children(chain);
  });
  afterEach(async () => {
    children.stopAll();
    await services.stopAll();
    await chain.automine(true);
  });

  /** Starts a relayer's process and waits until it ends. @returns the signal that ended it */
  async function dies(storeUrl: string, fault: Fault): Promise<NodeJS.Signals | null> {
    return ended(children.fork({ storeUrl, fault, config: CONFIG }));
  }

  async function queued(add: (store: Awaited<ReturnType<typeof openStore>>) => Promise<string>) {
    const storeUrl = services.newStoreUrl();
    const store = await openStore({ url: storeUrl });
    const id = await add(store);
    await store.close();
    return { storeUrl, id };
  }

  const nonceOf = () => chain.provider.getTransactionCount(new Wallet(RELAYER_KEY).address);

  for (const [state, fault] of STATES)
    it(`${state}: sends one transaction and answers settled`, async () => {
      const payment = await chain.payment();
      const nonce = await nonceOf();
      const { storeUrl, id } = await queued((store) => enqueue(store, payment));
      expect(await dies(storeUrl, fault)).to.equal("SIGKILL");
      const { relayer, store } = await services.start({ storeUrl, config: CONFIG });
      const outcome = await relayer.waitFor(id, WAIT);
      expect(outcome.state).to.equal("settled");
      expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([outcome.txHash]);
      await eventually(async () => (await store.outbox.open()).length === 0);
      expect(await nonceOf()).to.equal(nonce + 1);
      expect(await enqueue(store, payment)).to.equal(id);
      expect(await relayer.waitFor(id, 0)).to.deep.equal(outcome);
    });

  it("with a pending transaction that the node lost: sends the same transaction again", async () => {
    const payment = await chain.payment();
    const { storeUrl, id } = await queued((store) => enqueue(store, payment));
    await chain.automine(false);
    expect(await dies(storeUrl, { point: "outbox.sent", when: "after" })).to.equal("SIGKILL");
    const [hash] = (await chain.rpc("eth_pendingTransactions").then((all) => all as { hash: string }[])).map(
      (t) => t.hash,
    );
    expect(await chain.rpc("hardhat_dropTransaction", hash)).to.equal(true);
    const { relayer } = await services.start({ storeUrl, config: CONFIG });
    await eventually(async () => ((await chain.rpc("eth_pendingTransactions")) as unknown[]).length === 1);
    await chain.automine(true);
    await chain.mine();
    const outcome = await relayer.waitFor(id, WAIT);
    expect(outcome).to.include({ state: "settled", txHash: hash });
  });

  it("repeatedly, with payments, a withdrawal and a deposit in flight: each takes effect once", async () => {
    const account = new Wallet(Wallet.createRandom().privateKey);
    await (await chain.token.getFunction("mint")(account.address, 1_000_000n)).wait();
    const deposit = await authorizedDeposit(chain, account, [1_000_000n]);
    const withdrawal = await chain.withdrawal();
    const payments = await Promise.all(Array.from({ length: 5 }, () => chain.payment()));
    const nonce = await nonceOf();
    const ids: string[] = [];
    const { storeUrl } = await queued(async (store) => {
      for (const payment of payments) ids.push(await enqueue(store, payment));
      ids.push(await enqueueWithdrawal(store, withdrawal), await enqueueDeposit(store, deposit));
      return "";
    });
    for (const [, fault] of [STORED, SENT, MINED]) expect(await dies(storeUrl, fault)).to.equal("SIGKILL");
    const { relayer } = await services.start({ storeUrl, config: CONFIG });
    for (const id of ids) expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
    for (const { signals } of payments)
      expect(await chain.settlements(paymentSignals(signals).nullifier)).to.have.length(1);
    expect(await chain.token.getFunction("balanceOf")(account.address)).to.equal(0n);
    expect(await nonceOf()).to.equal(nonce + 3);
  });
});
