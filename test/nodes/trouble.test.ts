// What can go wrong with a chain and its nodes, on Anvil: after each trouble, every payment is settled exactly once and
// every balance is exact.

import { eventually } from "@sotto/test-kit/eventually";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { toQuantity } from "ethers";
import type { Books } from "./support/audit.ts";
import { openTroubled, relayer, type Troubled } from "./support/troubled.ts";

/** Base fee above the relayer's limit on what it pays, wei. */
const SPIKE = 10n ** 13n;

describe("a service on Anvil, in trouble,", function () {
  slow(this, "a deployment, a service and wallets");
  let troubled: Troubled;
  let books: Books;
  before(async () => {
    troubled = await openTroubled(16);
    books = troubled.books;
  });
  afterEach(() => troubled.calm());

  for (const depth of inLongRun([1, 10], [3, 64]))
    it(`settles again what a reorganization of ${depth} blocks removed, with a deposit and its append`, async () => {
      const height = await troubled.height();
      await books.deposit(1_000_000n);
      await books.pay(100_000n + BigInt(depth));
      const made = (await troubled.height()) - height;
      await troubled.mine(Math.max(0, depth - made));
      await troubled.reorganize({ after: (await troubled.height()) - depth });
      await troubled.mine(2);
      await books.audit();
    });

  it("settles again after the node was rolled back to an older state", async () => {
    const snapshot = await troubled.rpc("evm_snapshot");
    await books.pay(100_004n);
    await troubled.mine(3);
    await troubled.rpc("evm_revert", snapshot);
    await troubled.mine(1);
    await books.audit();
  });

  it("settles payments that were made while no block was mined", async () => {
    await troubled.automine(false);
    const settled = [(await books.verified(100_005n)).settle(), (await books.verified(100_006n)).settle()];
    await troubled.sent();
    await troubled.automine(true);
    await troubled.mine(1);
    await Promise.all(settled);
    await books.audit();
  });

  it("settles a payment whose transaction the node dropped", async () => {
    await troubled.automine(false);
    const settled = (await books.verified(100_000n)).settle();
    const [dropped] = await troubled.sent();
    await troubled.rpc("anvil_dropTransaction", dropped!.hash);
    await troubled.automine(true);
    await settled;
    await books.audit();
  });

  it("settles a payment after a spike of the base fee", async () => {
    await troubled.automine(false);
    const settled = (await books.verified(100_001n)).settle();
    await troubled.sent();
    await troubled.rpc("anvil_setNextBlockBaseFeePerGas", toQuantity(SPIKE));
    await troubled.mine(1);
    await troubled.rpc("anvil_setNextBlockBaseFeePerGas", toQuantity(10n ** 9n));
    await troubled.mine(1);
    await troubled.automine(true);
    await settled;
    await books.audit();
  });

  /** Another program sends a transaction with the relayer's key. @param ahead by how much its nonce is above the next one */
  async function useKey(ahead: number): Promise<void> {
    const { provider } = troubled.world;
    const nonce = (await provider.getTransactionCount(relayer.address)) + ahead;
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
    await relayer.connect(provider).sendTransaction({ to: relayer.address, nonce, ...fees });
  }

  it("settles a payment under another nonce after another program used the relayer's key", async () => {
    await troubled.automine(false);
    const settled = (await books.verified(100_002n)).settle();
    await troubled.sent();
    await useKey(0);
    await troubled.mine(1);
    await troubled.automine(true);
    await settled;
    await books.audit();
  });

  it("settles payments beside another program's transaction under a later nonce", async () => {
    await troubled.automine(false);
    await useKey(1);
    const settled = (await books.verified(100_012n)).settle();
    await troubled.sent(2);
    // Its nonce is the next one for the relayer, too.
    const later = (await books.verified(100_013n)).settle();
    await troubled.mine(1);
    await troubled.automine(true);
    await Promise.all([settled, later]);
    await books.audit();
  });

  it("settles payments after the node dropped the first of two transactions", async () => {
    await troubled.automine(false);
    const settled = [(await books.verified(100_014n)).settle()];
    const [dropped] = await troubled.sent();
    settled.push((await books.verified(100_015n)).settle());
    await troubled.sent(2);
    await troubled.rpc("anvil_dropTransaction", dropped!.hash);
    await troubled.automine(true);
    await Promise.all(settled);
    await books.audit();
  });

  it("fills the nonce of another program's transaction that a reorganization removed", async () => {
    const after = await troubled.height();
    await useKey(0);
    await books.pay(100_016n);
    await troubled.reorganize({ after });
    await troubled.mine(2);
    await books.audit();
  });

  for (const mode of inLongRun(
    ["limitsRequests", "talksNonsense", "truncates", "isBehind"] as const,
    ["isOverloaded", "hangs", "breaksOff", "swallowsTransactions", "hasOnlyNewState"] as const,
  ))
    it(`settles a payment while the first node ${mode}`, async () => {
      troubled.first.mode = mode;
      await books.pay(100_003n);
      troubled.first.mode = "honest";
      await books.audit();
    });

  // The last test, because it moves the chain's clock ahead.
  it("fails a payment whose deposit a reorganization removed forever", async () => {
    const after = await troubled.height();
    const payer = await books.newPayer(1_000_000n);
    const lost = await books.verified(300_000n, { by: payer });
    await lost.settle();
    await troubled.reorganize({ after, keepDeposits: false });
    books.lostDeposits(payer);
    books.refused(lost.payment, "expired");
    const deadline = lost.payment.validUntil;
    await troubled.mine(2);
    await eventually(async () => (await lost.outcome()).status === "pending");
    await troubled.rpc("evm_setNextBlockTimestamp", deadline + 1);
    await troubled.mine(2);
    await eventually(async () => (await lost.outcome()).status === "failed");
    await troubled.mine(2);
    await books.audit();
    expect((await lost.outcome()).status).to.equal("failed");
  });
});
