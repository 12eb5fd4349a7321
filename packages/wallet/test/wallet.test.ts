import { depositWithAuthorizationCall } from "@sotto/chain/ethers";
import { decodeBundle, parseDecimalAmount, paymentSignals, rangeSignals, withdrawalSignals } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { expectRejected, rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, ViewingWallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { MERCHANT, URL, World } from "./support/world.ts";

const usd = (text: string) => parseDecimalAmount(text, 6);

describe("wallet", () => {
  it("deposits, pays and finds its change", async () => {
    const world = new World();
    const [payer, merchant] = [await world.funded([usd("5")]), await world.wallet()];
    expect(payer.balance()).to.include({ spendable: usd("5"), total: usd("5") });

    const payment = await payer.pay({ recipient: world.recipient(merchant), amount: usd("1.25"), resourceUrl: URL });
    expect(payer.balance()).to.include({ spendable: 0n, held: usd("5"), total: usd("5") });
    expect(payer.status(payment.id)).to.include({ state: "open", final: false });

    const block = world.settle(payment);
    await payer.scan();
    expect(payer.balance()).to.include({ spendable: 0n, queued: usd("3.75"), total: usd("3.75") });
    expect(payer.status(payment.id)).to.include({
      state: "settled",
      final: true,
      transactionHash: block.logs[0]!.transactionHash,
    });
    await world.append();
    await Promise.all([payer.scan(), merchant.scan()]);
    expect(payer.balance()).to.include({ spendable: usd("3.75"), total: usd("3.75") });
    expect(merchant.balance()).to.include({ spendable: usd("1.25"), total: usd("1.25") });
    expect(payer.notes().map(({ origin, state }) => `${origin} ${state}`)).to.deep.equal([
      "deposit spent",
      "change spendable",
    ]);
  });

  it("creates wire bundles that bind recipient, resource and time", async () => {
    const world = new World();
    const [payer, merchant] = [await world.funded([usd("5")]), await world.wallet()];
    const { bundle, settle, digest, nullifier, validUntil } = await payer.pay({
      recipient: world.recipient(merchant),
      amount: 1_000_000n,
      resourceUrl: URL,
    });
    const read = decodeBundle(JSON.parse(JSON.stringify(bundle)));
    expect(read.recipientPublicKey).to.equal(MERCHANT);
    expect(read.resourceUrl).to.equal(URL);
    expect(rangeSignals(read.amountPublicSignals)).to.include({ lowerBound: 1_000_000n, upperBound: 1_100_000n });
    expect(paymentSignals(read.publicSignals).nullifier).to.equal(BigInt(nullifier));
    expect(Number(settle.validUntil)).to.equal(validUntil);
    expect(validUntil % 60).to.equal(0);
    expect(validUntil * 1000 - bundle.timestamp).to.be.within(120_000, 180_000);
    expect(digest).to.match(/^0x[0-9a-f]{64}$/);
    expect(world.prover.asked).to.include.members(["payment", "elgamal_range"]);
  });

  it("deposits for an account without ETH, and pays the sponsor's fee as a separate note", async () => {
    const world = new World();
    const [payer, relayer] = [await world.wallet(), await world.wallet()];
    const account = new Account(`0x${"77".repeat(32)}`);
    world.token.mint(account.address, usd("10"));
    const sponsor = { shieldedAddress: relayer.shieldedAddress, fee: 5_000n };
    const request = await payer.authorizeDeposit({ amounts: [usd("6"), usd("3")], account, sponsor });
    world.chain.mine(depositWithAuthorizationCall(JSON.parse(JSON.stringify(request))));
    await world.append();
    await Promise.all([payer.scan(), relayer.scan()]);
    expect(payer.balance().spendable).to.equal(usd("9"));
    expect(relayer.balance().spendable).to.equal(5_000n);
    expect(world.token.balanceOf(account.address)).to.equal(usd("1") - 5_000n);
    // Submitting the same request again transfers nothing.
    expect(() => world.chain.mine(depositWithAuthorizationCall(request))).to.throw("authorization is used");
    // The submitter cannot redirect the notes.
    const stolen = { ...request, ownerTags: request.ownerTags.toReversed() };
    expect(() => world.chain.mine(depositWithAuthorizationCall(stolen))).to.throw("invalid signature");
  });

  it("merges and withdraws, and pays the fee from the notes", async () => {
    const world = new World();
    const wallet = await world.funded([usd("1"), usd("2"), usd("3")]);
    const fee = { amount: 10_000n, recipient: `0x${"fe".repeat(20)}` };
    const merge = await wallet.merge({ fee });
    expect(merge.output).to.equal(usd("6") - 10_000n);
    world.withdraw(merge);
    await world.append();
    await wallet.scan();
    expect(wallet.balance().spendable).to.equal(usd("5.99"));
    expect(world.token.balanceOf(fee.recipient)).to.equal(10_000n);

    const recipient = `0x${"cc".repeat(20)}`;
    const withdrawal = await wallet.withdraw({ recipient, amount: usd("4"), fee });
    world.withdraw(withdrawal);
    await wallet.scan();
    expect(wallet.status(withdrawal.id).state).to.equal("settled");
    expect(world.token.balanceOf(recipient)).to.equal(usd("4"));
    expect(wallet.balance().total).to.equal(usd("1.98"));
    // The whole balance is withdrawn. The change is 0, and the wallet does not list it.
    await world.append();
    world.withdraw(await wallet.withdraw({ recipient, amount: usd("1.98") }));
    await wallet.scan();
    expect(wallet.balance().total).to.equal(0n);
    expect(wallet.notes().filter(({ state }) => state !== "spent")).to.deep.equal([]);
    expect(world.token.balanceOf(POOL)).to.equal(0n);
  });

  it("exits with whole notes and no change, the largest eight at a time", async () => {
    const world = new World();
    const wallet = await world.funded(Array.from({ length: 9 }, (_, i) => usd(String(i + 1))));
    const [recipient, relayer] = [`0x${"ee".repeat(20)}`, `0x${"dd".repeat(20)}`];
    const first = await wallet.exit({ recipient, fee: { amount: usd("2"), recipient: relayer } });
    expect(first).to.include({ output: 0n });
    expect(first.validUntil % 60).to.equal(0);
    const again = await wallet.withdrawAgain(first.id);
    expect(again.validUntil).to.be.greaterThan(first.validUntil);
    expect(withdrawalSignals(again.withdraw.signals).changeHint).to.equal("0");
    world.withdraw(again);
    world.withdraw(await wallet.exit({ recipient }));
    await wallet.scan();
    expect(world.token.balanceOf(recipient)).to.equal(usd("43"));
    expect(world.token.balanceOf(relayer)).to.equal(usd("2"));
    expect(world.pool.queued, "nothing was queued").to.equal(0);
    expect(wallet.balance().total).to.equal(0n);
    expect(wallet.status(first.id)).to.include({ state: "settled" });
    // Another wallet with the same seed finds the same notes, and continues the tree.
    const restored = await world.funded([usd("4")]);
    expect(restored.balance()).to.include({ spendable: usd("4"), total: usd("4") });
  });

  it("reports that a merge is needed, or merges if configured", async () => {
    const world = new World();
    const [payer, merchant] = [await world.funded(Array(10).fill(usd("1"))), await world.wallet()];
    const request = { recipient: world.recipient(merchant), amount: usd("9.5"), resourceUrl: URL };
    expect((await rejection(payer.pay(request))).code).to.equal("MERGE_REQUIRED");
    const merged: number[] = [];
    const payment = await payer.pay(request, {
      merge: {
        submit: async (merge) => {
          merged.push(merge.notes.length);
          world.withdraw(merge);
          await world.append();
        },
        interval: 1,
      },
    });
    expect(merged).to.deep.equal([8, 3]);
    world.settle(payment);
    await Promise.all([payer.scan(), merchant.scan()]);
    expect(payer.balance().total).to.equal(usd("0.5"));
    expect(merchant.balance().total).to.equal(usd("9.5"));
  });

  it("makes parallel payments from different notes", async () => {
    const world = new World();
    const [payer, merchant] = [await world.funded(Array(5).fill(usd("1"))), await world.wallet()];
    const request = { recipient: world.recipient(merchant), amount: usd("0.4"), resourceUrl: URL };
    const payments = await Promise.all(Array.from({ length: 5 }, () => payer.pay(request)));
    expect(new Set(payments.map(({ nullifier }) => nullifier)).size).to.equal(5);
    const sixth = await rejection(payer.pay(request));
    expect(sixth.code).to.equal("FUNDS_NOT_READY");
    world.settle(...payments);
    await world.append();
    await Promise.all([payer.scan(), merchant.scan()]);
    expect(payer.balance()).to.include({ spendable: usd("3"), total: usd("3") });
    expect(merchant.balance().spendable).to.equal(usd("2"));
  });

  it("is restored from its seed and the chain", async () => {
    const world = new World();
    const seed = new Uint8Array(32).map((_, i) => i + 1);
    const [payer, merchant] = [await world.funded([usd("5"), usd("4")], { seed }), await world.wallet()];
    const request = { recipient: world.recipient(merchant), amount: usd("1"), resourceUrl: URL };
    world.settle(await payer.pay(request), await payer.pay(request));
    await world.append();
    world.withdraw(await payer.merge());
    await world.append();
    world.settle(await payer.pay(request));
    await payer.scan();
    const restored = await world.wallet({ seed });
    await restored.scan();
    expect(restored.balance()).to.deep.equal(payer.balance());
    expect(restored.notes()).to.deep.equal(payer.notes());
    expect(restored.balance().total).to.equal(usd("6"));
    await world.append();
    world.settle(await restored.pay(request));
    await restored.scan();
    expect(restored.balance().total).to.equal(usd("5"));
  });

  it("shows a viewing wallet the incoming payments and nothing else", async () => {
    const world = new World();
    const [payer, merchant] = [await world.funded([usd("5")]), await world.wallet()];
    const viewing = await ViewingWallet.open({
      ...world.options({ finality: 1 }),
      keys: merchant.viewingKeys({ lasting: true }),
      store: new MemoryStore(),
    });
    const request = { recipient: world.recipient(merchant), amount: usd("1.5"), resourceUrl: URL };
    world.settle(await payer.pay(request));
    await viewing.scan();
    expect(viewing.received()).to.have.length(1);
    expect(viewing.received()[0]).to.include({ amount: usd("1.5"), origin: "payment", confirmed: false });
    expect(viewing.total()).to.equal(0n);
    await world.append();
    await merchant.scan();
    world.settle(await merchant.pay({ ...request, recipient: world.recipient(payer), amount: usd("1") }));
    world.chain.mine();
    await viewing.scan();
    expect(viewing.total()).to.equal(usd("1.5"));
    expect(viewing.received()).to.have.length(1);
    expect("derive" in viewing, "secrets of extensions").to.equal(false);
  });

  it("derives the same secrets for extensions after it was restored, and never its own keys", async () => {
    const world = new World();
    const seed = new Uint8Array(32).map((_, i) => i + 1);
    const secretOf = async () => (await world.wallet({ seed })).derive("credit/1", 32);
    expect(await secretOf())
      .to.have.length(32)
      .and.to.deep.equal(await secretOf());
    const wallet = await world.wallet();
    expect(await wallet.derive("credit/1", 32), "of another seed").to.not.deep.equal(await secretOf());
    await expectRejected("LABEL_RESERVED", () => wallet.derive("spending-key", 48));
  });
});
