import { bytesToHex, deriveKeys, hexToBytes, nonceOfReceiptKey, senderCommitment } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { rejection, thrown } from "@sotto/test-kit/rejection";
import { MemoryStore, type Wallet } from "@sotto/wallet";
import {
  type AssertReceiptOptions,
  assertReceipt,
  openReceipt,
  type Receipt,
  type ReceiptOptions,
} from "@sotto/wallet/receipts";
import { expect } from "chai";
import { SEED, start } from "../support/merchant.ts";
import { nodeOf, nodesOf } from "../support/several-nodes.ts";
import { MERCHANT, URL, type World } from "../support/world.ts";

const CHALLENGE = "ACME support, ticket 4711";

describe("a receipt", () => {
  let world: World;
  let payer: Wallet;
  let merchant: Wallet;
  let id: string;
  let receipt: Receipt;
  let bundle: { senderCommitment: string };
  const check = (value: unknown, changes: Partial<AssertReceiptOptions> = {}) =>
    assertReceipt(value, { chain: world.chain, chainId: 31337n, pool: POOL, confirmations: 1, ...changes });
  const make = (options: ReceiptOptions = {}) => payer.receipt(id, { showDeposit: true, ...options });

  before(async () => {
    const started = await start([5_000n]);
    ({ world, payer, merchant } = started);
    // The second payment is made from change, which is owned by the wallet's main tag.
    world.settle(await payer.pay(started.request));
    await world.append();
    const payment = await payer.pay({ ...started.request, amount: 1_234n });
    ({ id, bundle } = payment);
    world.settle(payment);
    await payer.scan();
    receipt = await payer.receipt(id, { challenge: CHALLENGE });
  });

  it("proves recipient, amount, resource and transaction to any verifier", async () => {
    const checked = await check(JSON.parse(JSON.stringify(receipt)), { challenge: CHALLENGE });
    expect(checked).to.deep.include({
      amount: 1_234n,
      resourceUrl: URL,
      recipient: { wallet: MERCHANT, shieldedAddress: merchant.shieldedAddress },
      transaction: payer.status(id).transactionHash,
      digest: world.chain.blocks.at(-1)!.logs[0]!.data.slice(0, 66),
      challenge: CHALLENGE,
    });
    expect(payer.shieldedAddress.endsWith(checked.ownerTag.toString(16))).to.equal(true);
  });

  it("can be made long after the proof was deleted, also from a journal on another device", async () => {
    const store = new MemoryStore();
    for (const { key, value } of await payer.store.list("spend/")) {
      const record = { ...(value as Record<string, never>), proof: null };
      await store.put(key, record);
    }
    await store.put("identity", (await payer.store.get("identity"))!.value);
    const restored = await world.wallet({ seed: SEED, store });
    await restored.scan();
    await check(await restored.receipt(id, { challenge: CHALLENGE }), { challenge: CHALLENGE });
  });

  it("reveals no other payment and no key of the wallet", () => {
    const text = JSON.stringify(receipt);
    const keys = deriveKeys(SEED, { chainId: 31337n, pool: POOL });
    const secrets = [keys.viewingKey, keys.changeKey, keys.spendingKey(0), BigInt(bytesToHex(keys.nonceKey))];
    for (const secret of secrets) {
      expect(text).to.not.include(secret.toString(10));
      expect(text).to.not.include(secret.toString(16));
    }
    const other = payer.history()[0]!;
    expect(text).to.not.include(other.id);
    expect(text).to.not.include(other.transactionHash);
  });

  it("is rejected by a verifier that expects another challenge", async () => {
    expect((await rejection(check(receipt, { challenge: "another" }))).code).to.equal("RECEIPT_OTHER_CHALLENGE");
    const rewritten = { ...receipt, challenge: "another" };
    expect((await rejection(check(rewritten, { challenge: "another" }))).code).to.equal("RECEIPT_INVALID");
    // Without an expected challenge, every signed receipt is valid.
    expect((await check(receipt)).challenge).to.equal(CHALLENGE);
    expect((await check(await make(), {})).challenge).to.equal("");
    expect((await rejection(check(await make(), { challenge: CHALLENGE }))).code).to.equal("RECEIPT_OTHER_CHALLENGE");
  });

  it("cannot be forged by the recipient or the service, which have the bundle", async () => {
    // They know the sender commitment but not its opening, and a key that they choose yields a different nonce.
    const theirs = { ...receipt, receiptKey: bytesToHex(new Uint8Array(32).fill(9)) };
    expect(thrown(() => openReceipt(theirs)).code).to.equal("RECEIPT_INVALID");
    expect(thrown(() => openReceipt({ ...receipt, ownerTag: "5" })).code).to.equal("RECEIPT_INVALID");
    const opened = senderCommitment(BigInt(receipt.ownerTag), nonceOfReceiptKey(hexToBytes(receipt.receiptKey, 32)));
    expect(String(opened)).to.equal(bundle.senderCommitment);
  });

  const tampered: [string, (receipt: Receipt) => Partial<Receipt>][] = [
    ["one unit more", () => ({ amount: "1235" })],
    ["one unit less", () => ({ amount: "1233" })],
    ["another resource", () => ({ resourceUrl: `${URL}?` })],
    ["another minute", ({ timestamp }) => ({ timestamp: timestamp + 60_000 })],
    ["another millisecond", ({ timestamp }) => ({ timestamp: timestamp + 1 })],
    ["another wallet", ({ recipient }) => ({ recipient: { ...recipient, wallet: `0x${"12".repeat(20)}` } })],
    [
      "the payer's own address",
      ({ recipient }) => ({
        recipient: { ...recipient, shieldedAddress: payer.shieldedAddress },
      }),
    ],
    ["another chain", () => ({ chainId: "1" })],
    ["another pool", () => ({ pool: `0x${"34".repeat(20)}` })],
    ["another first signal", ({ publicSignals }) => ({ publicSignals: publicSignals.with(0, "1") })],
    ["a C off the curve", ({ publicSignals }) => ({ publicSignals: publicSignals.with(3, "1") })],
    [
      "a flipped bit of the signature",
      ({ signature }) => ({
        signature: signature.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")),
      }),
    ],
  ];
  for (const [name, change] of tampered)
    it(`proves nothing with ${name}`, () => {
      expect(thrown(() => openReceipt({ ...receipt, ...change(receipt) })).code).to.equal("RECEIPT_INVALID");
    });

  it("requires exactly the same signals on chain", async () => {
    // The receipt does not open root, nullifier and change, but the digest on chain covers them.
    for (const index of [5, 6, 8, 9]) {
      const other = { ...receipt, publicSignals: receipt.publicSignals.with(index, "7") };
      const code = (await rejection(check(other))).code;
      expect(code).to.be.oneOf(["RECEIPT_NOT_SETTLED", "RECEIPT_INVALID"]);
    }
  });

  it("is rejected with another transaction or block", async () => {
    for (const change of [{ transaction: `0x${"00".repeat(32)}` }, { block: receipt.block - 1 }, { block: 10_000_000 }])
      expect((await rejection(check({ ...receipt, ...change }))).code).to.equal("RECEIPT_NOT_SETTLED");
  });

  it("requires enough confirmations, and the expected chain and pool", async () => {
    const height = world.chain.height;
    const has = height - receipt.block + 1;
    await check(receipt, { confirmations: has });
    expect((await rejection(check(receipt, { confirmations: has + 1 }))).code).to.equal("RECEIPT_NOT_SETTLED");
    expect((await rejection(check(receipt, { chainId: 5n }))).code).to.equal("RECEIPT_ELSEWHERE");
    expect((await rejection(check(receipt, { pool: `0x${"56".repeat(20)}` }))).code).to.equal("RECEIPT_ELSEWHERE");
  });

  it("is checked with a single node that has the confirmations", async () => {
    world.chain.mineMany(2);
    const { chain } = world;
    const honest = nodeOf(chain);
    const empty = nodeOf(chain, { logs: async () => [] });
    const short = nodeOf(empty, { block: async (n: number) => (n > receipt.block ? undefined : chain.block(n)) });
    for (const nodes of [
      [honest, empty],
      [short, honest],
    ])
      expect((await check(receipt, { confirmations: 3, chain: nodesOf(...nodes) })).amount).to.equal(1_234n);
    chain.takeBack(2);
  });

  it("is made only on request if it reveals a deposit", async () => {
    const first = payer.history()[0]!;
    expect((await rejection(payer.receipt(first.id))).code).to.equal("RECEIPT_SHOWS_DEPOSIT");
    const shown = await payer.receipt(first.id, { showDeposit: true });
    const keys = deriveKeys(SEED, { chainId: 31337n, pool: POOL });
    const { keyIndex } = payer.notes().find(({ origin }) => origin === "deposit")!;
    expect(keyIndex).to.be.within(1, 100);
    expect(shown.ownerTag).to.equal(String(keys.ownerTag(keyIndex)));
    expect((await check(shown)).amount).to.equal(1_000n);
  });

  it("is not made for an unsettled or unknown payment, or for a withdrawal", async () => {
    const open = await payer
      .pay({ recipient: world.recipient(merchant), amount: 1n, resourceUrl: URL })
      .catch(() => null);
    expect(open).to.equal(null);
    await world.append();
    const pending = await payer.pay({ recipient: world.recipient(merchant), amount: 1n, resourceUrl: URL });
    expect((await rejection(payer.receipt(pending.id))).code).to.equal("RECEIPT_IMPOSSIBLE");
    expect((await rejection(payer.receipt("nothing"))).code).to.equal("UNKNOWN_PAYMENT");
    for (const challenge of ["", "a\nb", "x".repeat(257), "\u202eevil"])
      expect((await rejection(make({ challenge }))).code, challenge).to.equal("RECEIPT_MALFORMED");
  });

  const malformed: [string, unknown][] = [
    ["null", null],
    ["an array", []],
    ["another version", { version: 2 }],
    ["another type", { type: "sotto-totals" }],
    ["nine signals", { publicSignals: new Array(9).fill("1") }],
    ["a signal of p", { publicSignals: new Array(10).fill("9".repeat(77)) }],
    ["an amount of 2^64", { amount: "18446744073709551616" }],
    ["a negative block", { block: -1 }],
    ["a challenge of two lines", { challenge: "a\nb" }],
    ["a challenge that is too long", { challenge: "x".repeat(257) }],
    ["an address of too many bytes", { recipient: { wallet: MERCHANT, shieldedAddress: `0x${"00".repeat(65)}` } }],
    ["an address off the curve", { recipient: { wallet: MERCHANT, shieldedAddress: `0x${"11".repeat(64)}` } }],
    ["a resource that is too long", { resourceUrl: "x".repeat(2049) }],
    ["a timestamp that is a text", { timestamp: "1" }],
    ["a key that is too short", { receiptKey: "0x00" }],
  ];
  for (const [name, change] of malformed)
    it(`is rejected with ${name}`, () => {
      const value = Array.isArray(change) || change === null ? change : { ...receipt, ...(change as object) };
      expect(thrown(() => openReceipt(value)).code).to.equal("RECEIPT_MALFORMED");
    });
});
