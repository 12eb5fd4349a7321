import { withdrawalSignals } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type Payment, type Wallet, type Withdrawal } from "@sotto/wallet";
import { expect } from "chai";
import { SEED, start } from "./support/merchant.ts";
import type { World } from "./support/world.ts";

const SERVICE = "https://one.example/zk";
const ACCOUNT = `0x${"cc".repeat(20)}`;

/** Advances the chain until no existing proof can settle any more. */
async function abandon(world: World, wallet: Wallet, { validUntil }: Payment | Withdrawal): Promise<void> {
  while (world.chain.time <= validUntil) world.chain.mine();
  await wallet.scan();
}

/** A payer with these notes, whose payment of 2,000 from the first note was proved for a merchant and never settled. */
async function abandoned(amounts = [5_000n, 6_000n]) {
  const store = new MemoryStore();
  const { world, payer, merchant, request: asked } = await start(amounts, { store });
  const request = { ...asked, amount: 2_000n, service: SERVICE };
  const first = await payer.pay(request);
  await abandon(world, payer, first);
  expect(payer.status(first.id).state).to.equal("expired");
  const other = { ...request, recipient: world.recipient(await world.wallet()) };
  /** Returns which of the two notes a payment spends. */
  const spends = ({ nullifier }: Payment): "the shown note" | "another note" =>
    nullifier === first.nullifier ? "the shown note" : "another note";
  return { world, payer, merchant, store, request, first, other, spends };
}

describe("a note whose nullifier an unsettled payment revealed", () => {
  it("is not used for another recipient or service while another note suffices", async () => {
    const { world, payer, store, request, other, spends } = await abandoned([5_000n, 6_000n, 7_000n]);
    const elsewhere = { ...request, service: "https://two.example/zk" };
    const check = async (wallet: Wallet) => {
      for (const asked of [other, elsewhere]) {
        const payment = await wallet.pay(asked);
        expect(spends(payment)).to.equal("another note");
        await abandon(world, wallet, payment);
        expect(wallet.isShown(wallet.notes()[0]!)).to.equal(true);
      }
    };
    await check(payer);
    await check(await world.wallet({ seed: SEED, store }));
  });

  it("is used for the same recipient and service, which already know its nullifier", async () => {
    const { payer, request, spends } = await abandoned();
    expect(spends(await payer.pay(request))).to.equal("the shown note");
  });

  it("is used for others if no other note suffices", async () => {
    const { world, payer, other, merchant, spends } = await abandoned([5_000n, 1_500n]);
    const payment = await payer.pay(other);
    expect(spends(payment)).to.equal("the shown note");
    world.settle(payment);
    await Promise.all([payer.scan(), merchant.scan()]);
    expect(payer.balance().total).to.equal(4_500n);
  });

  it("is first merged into a new note if merging is allowed, so that the payment's nullifier is new", async () => {
    const { world, payer, other, first } = await abandoned([5_000n, 1_500n]);
    const merges: Withdrawal[] = [];
    const submit = async (merge: Withdrawal) => {
      merges.push(merge);
      world.withdraw(merge);
      await world.append();
    };
    const payment = await payer.pay(other, { merge: { submit, interval: 1 } });
    expect(merges.map(({ withdraw }) => withdrawalSignals(withdraw.signals).nullifiers)).to.deep.equal([
      [first.nullifier, ...new Array<string>(7).fill("0")],
    ]);
    expect(payment.nullifier).to.not.equal(first.nullifier);
    world.settle(payment);
    await payer.scan();
    expect(payer.balance().total).to.equal(4_500n);
  });

  it("is merged at most once; if that merge expires, the payment spends the note itself", async () => {
    const { world, payer, other, spends } = await abandoned([5_000n]);
    const lost: Withdrawal[] = [];
    const submit = async (merge: Withdrawal) => {
      lost.push(merge);
      throw new Error("the service takes no merges");
    };
    const error = await rejection(payer.pay(other, { merge: { submit } }));
    expect(error).to.include({ code: "FUNDS_NOT_READY" });
    expect(String(error.cause)).to.include("the service takes no merges");
    expect(lost[0]!.validUntil * 1000 - world.clock()).to.be.at.most(120_000);
    await abandon(world, payer, lost[0]!);
    expect(spends(await payer.pay(other, { merge: { submit } }))).to.equal("the shown note");
    expect(lost).to.have.length(1);
  });

  it("is not merged if the fee would leave too little to pay", async () => {
    const { payer, other, spends } = await abandoned([2_000n]);
    const merge = { submit: async () => undefined, fee: { amount: 1n, recipient: ACCOUNT } };
    expect(spends(await payer.pay(other, { merge }))).to.equal("the shown note");
  });

  it("is not withdrawn while other notes suffice", async () => {
    const { payer, first } = await abandoned();
    const nullifiers = ({ withdraw }: Withdrawal) =>
      withdrawalSignals(withdraw.signals).nullifiers.filter((word) => word !== "0");
    const part = await payer.withdraw({ recipient: ACCOUNT, amount: 6_000n });
    expect(nullifiers(part)).to.have.length(1).and.to.not.include(first.nullifier);
  });

  it("is found by a wallet restored from its seed", async () => {
    const { world, payer, other } = await abandoned();
    const restored = await world.wallet({ seed: SEED });
    await restored.scan();
    expect(restored.balance().spendable).to.equal(payer.balance().spendable);
    expect(restored.notes().some((note) => restored.isShown(note))).to.equal(false);
    world.settle(await restored.pay(other));
    await restored.scan();
    expect(restored.balance().total).to.equal(9_000n);
  });

  it("is not one whose proof was discarded before it left the wallet", async () => {
    const { payer, request } = await start([5_000n, 6_000n], { store: new MemoryStore() });
    const { id, nullifier } = await payer.pay(request);
    await payer.discard(id);
    expect(payer.notes().some((note) => payer.isShown(note))).to.equal(false);
    expect((await payer.pay({ ...request, service: SERVICE })).nullifier).to.equal(nullifier);
  });

  it("is not one whose proof was never generated", async () => {
    const { world, payer, request } = await start([5_000n, 6_000n], { store: new MemoryStore() });
    world.prover.before = () => {
      throw new Error("aborted");
    };
    expect(await payer.pay(request).catch((error: Error) => error.message)).to.equal("aborted");
    world.prover.before = () => undefined;
    const [begun] = payer.history();
    await abandon(world, payer, { validUntil: begun!.validUntil } as Payment);
    expect(payer.notes().some((note) => payer.isShown(note))).to.equal(false);
    const other = { ...request, recipient: world.recipient(await world.wallet()) };
    const { leafIndex } = payer.notes().find(({ amount }) => amount === 5_000n)!;
    await payer.pay(other);
    expect(payer.notes().find(({ state }) => state === "held")).to.include({ leafIndex });
  });
});
