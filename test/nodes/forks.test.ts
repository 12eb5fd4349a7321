// Reorganizations after which the chain has something else: another payment of the same note, another account's append, or
// no deposit.

import { encodeProofHeader } from "@sotto/protocol";
import { createPaywall } from "@sotto/resource-server";
import { eventually } from "@sotto/test-kit/eventually";
import { inLongRun } from "@sotto/test-kit/matrix";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { forgingProver } from "@sotto/test-pool/append";
import { bindingOf } from "@sotto/test-world/small-server";
import { appendCall, MemoryStore, NoteAppender, settleCall } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import type { Books, Verified } from "./support/audit.ts";
import { openTroubled, type Troubled } from "./support/troubled.ts";

const ORIGIN = "https://data.example";

describe("a service on Anvil, on another branch of the chain,", function () {
  slow(this, "a deployment, a service and wallets");
  let troubled: Troubled;
  let books: Books;
  before(async () => {
    troubled = await openTroubled(4);
    books = troubled.books;
  });
  afterEach(() => troubled.calm());

  /** The merchant's paywall, as its server runs it. @returns the merchant's account too */
  async function openMerchant(price: string) {
    const { world } = troubled;
    const account = Account.createRandom();
    const { binding, signature } = await bindingOf(world, books.merchant, account);
    const paywall = await createPaywall({
      origin: ORIGIN,
      price,
      recipient: { wallet: binding.wallet, shieldedAddress: binding.key, signature, issuedAt: binding.issuedAt },
      service: world.serviceUrl,
      chain: { rpcUrls: [world.node.url], chainId: world.chainId, pool: world.pool, settleWaitMs: 0 },
      store: "sqlite::memory:",
    });
    const show = async ({ payment, paymentToken }: Verified, txSignature: string) => {
      const header = encodeProofHeader({ bundle: payment.bundle, paymentToken, txSignature });
      const { pathname: target } = new URL(payment.bundle.resourceUrl);
      const values = (name: string) => (name === "x-payment-proof" ? [header] : []);
      const decision = await paywall.decide({ method: "GET", target, header: values });
      if (decision.kind === "paid") await decision.finish(200);
      return decision.kind;
    };
    return { account: account.address, show, close: () => paywall.close() };
  }

  for (const depth of inLongRun([2], [10, 64]))
    it(`fails a payment whose note another payment spent in ${depth} new blocks, and never settles it`, async () => {
      const payer = await books.newPayer(1_000_000n);
      const twin = await books.twinOf(payer);
      const merchant = await openMerchant("0.4");
      try {
        const terms = { account: merchant.account, resourceUrl: `${ORIGIN}/article/${depth}` };
        const replaced = await books.verified(400_000n, { ...terms, by: payer });
        const other = await books.prepared(300_000n, { by: twin });
        const receipt = () => payer.receipt(replaced.payment.id, { showDeposit: true });
        const height = await troubled.height();
        const txSignature = await replaced.settle();
        expect(await replaced.outcome()).to.include({ status: "success", txSignature });
        await payer.scan();
        expect((await receipt()).transaction).to.equal(txSignature);
        const add = [await troubled.signed(settleCall(troubled.world.pool, [other.settle]))];
        await troubled.mine(Math.max(0, depth - ((await troubled.height()) - height)));
        await troubled.reorganize({ after: height, add });
        books.refused(replaced.payment, "failed");
        await eventually(async () => (await replaced.outcome()).status === "failed");
        expect(await replaced.outcome()).to.include({ reason: "NULLIFIER_SPENT" });
        // Asked again in any way, it stays failed.
        expect(await rejection(replaced.settle())).to.include({ code: "NOT_SETTLED" });
        const verify = () => troubled.world.service.verify(replaced.payment.bundle);
        expect((await rejection(verify())).details).to.include({ reason: "NULLIFIER_SPENT" });
        expect(await merchant.show(replaced, txSignature)).to.equal("refused");
        await payer.scan();
        expect(await rejection(receipt())).to.include({ code: "RECEIPT_IMPOSSIBLE" });
        await troubled.mine(3);
        await books.audit();
        // The control: the next payment of the same payer is settled and accepted.
        const control = await books.verified(400_000n, { ...terms, by: payer });
        expect(await merchant.show(control, await control.settle())).to.equal("paid");
        await books.audit();
      } finally {
        await merchant.close();
      }
    });

  /** An appender of another account. @returns its next append, as a signed transaction */
  async function foreignAppend(): Promise<string> {
    const { chainId, pool, token, deploymentBlock, node } = troubled.world;
    const place = { chainId: BigInt(chainId), pool, token, deploymentBlock };
    const options = { ...place, chain: [troubled.first.url, node.url], finality: 0, store: new MemoryStore() };
    const appender = await NoteAppender.open({ ...options, prover: forgingProver });
    const { append } = await appender.prepare();
    return troubled.signed(appendCall(pool, append));
  }

  it("continues from the append of another account that came first", async () => {
    await troubled.automine(false);
    const depositing = books.deposit(500_000n);
    await troubled.sent(1, troubled.world.depositor.address);
    await troubled.mine(1);
    const [ours] = await troubled.sent();
    const raw = await foreignAppend();
    const hash = String(await troubled.rpc("eth_sendRawTransaction", raw));
    await troubled.mine(1);
    const receipt = async (of: string) => (await troubled.world.provider.getTransactionReceipt(of))!.status;
    expect([await receipt(hash), await receipt(ours!.hash)]).to.deep.equal([1, 0]);
    await troubled.automine(true);
    await depositing;
    await books.pay(100_009n);
    await books.audit();
  });

  it("continues from an append of another account that a reorganization put in the place of its own", async () => {
    await troubled.automine(false);
    const depositing = books.newPayer(500_000n);
    await troubled.sent(1, troubled.world.depositor.address);
    await troubled.mine(1);
    await troubled.sent();
    const add = [await foreignAppend()];
    const payment = await books.verified(100_010n);
    const settled = payment.settle();
    await troubled.sent(2);
    const after = await troubled.height();
    await troubled.mine(1);
    await settled;
    await depositing;
    await troubled.reorganize({ after, add });
    await troubled.mine(2);
    await books.pay(100_011n);
    await books.audit();
  });
});
