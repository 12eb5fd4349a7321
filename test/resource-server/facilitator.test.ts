// To learn whether a payment is settled, a resource server trusts only the chain, neither a service nor a payer. It
// accepts tokens only from its own service.

import {
  paymentSignals,
  randomField,
  resourceDigest,
  resourceHash,
  shieldedPoolAbi,
  signalsDigest,
  validUntilOf,
  type WireBundle,
} from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { call } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { createMerchant } from "@sotto/test-world/paywall/merchant";
import {
  forgeFor,
  type MerchantWorld,
  openMerchantWorld,
  pay,
  type Settled,
  settle,
} from "@sotto/test-world/paywall/world";
import { openService } from "@sotto/test-world/service";
import { settleCall } from "@sotto/wallet";
import { expect } from "chai";
import { concat, Interface, toBeHex } from "ethers";
import { Counter } from "./support/counter.ts";
import { type LyingFacilitator, startLyingFacilitator } from "./support/facilitator.ts";
import { ADAPTERS } from "./support/servers.ts";

const pool = new Interface(shieldedPoolAbi);

/** The arguments of the contract call for a bundle. */
function callOf({ proof, publicSignals, resourceUrl, timestamp, senderCommitment }: WireBundle) {
  const commitment = BigInt(senderCommitment);
  return {
    proof,
    signals: publicSignals,
    validUntil: String(validUntilOf(timestamp)),
    resourceDigest: resourceDigest({ resourceUrl, timestamp, senderCommitment: commitment }),
  };
}

/** Creation code that emits one log and creates no contract code. */
function emitting(topics: readonly string[], data: string): string {
  const push = (value: string) => concat([toBeHex(0x5f + (value.length - 2) / 2), value]);
  const size = toBeHex((data.length - 2) / 2, 2);
  const code = (offset: number) =>
    concat([
      ...[push(size), push(toBeHex(offset, 2)), "0x5f39"],
      ...topics.toReversed().map(push),
      ...[push(size), "0x5f", toBeHex(0xa0 + topics.length), "0x00"],
    ]);
  return concat([code((code(0).length - 2) / 2), data]);
}

interface KeySet {
  readonly keys: readonly { readonly kid: string }[];
}

describe("a resource server cannot be deceived", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let liar: LyingFacilitator;
  let fooled: Counter;
  let honest: Counter;
  let jwks: KeySet;
  before(async () => {
    world = await openMerchantWorld();
    liar = await startLyingFacilitator(world);
    const start = ADAPTERS.get("Fastify")!;
    fooled = await Counter.open(start, world, { service: liar.url });
    jwks = (await call(`${world.service}/.well-known/jwks.json`)).body as unknown as KeySet;
    honest = await Counter.open(start, world, { jwks });
  });
  after(async () => {
    await fooled?.close();
    await honest?.close();
    await liar?.close();
  });

  /** A payment with a token of the dishonest service, which this server trusts. */
  const said = (bundle: WireBundle, txSignature: string): Settled => ({
    bundle,
    paymentToken: liar.token(bundle),
    txSignature,
  });

  it("by its own service, signing a token for an unsettled payment", async () => {
    const bundle = forgeFor(world);
    const { txSignature } = await pay(world);
    await fooled.refuses("NOT_SETTLED", said(bundle, `0x${"12".repeat(32)}`));
    await fooled.refuses("NOT_SETTLED", said(bundle, txSignature));
    const settled = await settle(world, bundle);
    await fooled.takes(said(bundle, settled.txSignature));
  });

  it("by a payment from an invented tree", async () => {
    const bundle = forgeFor(world, { root: randomField() });
    const { txSignature } = await pay(world);
    await fooled.refuses("NOT_SETTLED", said(bundle, txSignature));
    await honest.refuses("TOKEN", { bundle, paymentToken: liar.token(bundle), txSignature });
  });

  it("by an invented payment with the nullifier of a settled one", async () => {
    const settled = await pay(world);
    const nullifier = BigInt(paymentSignals(settled.bundle.publicSignals).nullifier);
    await fooled.refuses("NOT_SETTLED", said(forgeFor(world, { nullifier }), settled.txSignature));
    await fooled.takes(said(settled.bundle, settled.txSignature));
  });

  it("by a token that another key signed for a settled payment", async () => {
    const settled = await pay(world);
    for (const kid of ["liar", ...jwks.keys.map((key) => key.kid)])
      await honest.refuses("TOKEN", { ...settled, paymentToken: liar.token(settled.bundle, {}, kid) });
    await honest.takes(settled);
  });

  it("by a token of another service on the same pool", async () => {
    const other = closedAfterTest(await openService());
    const settled = await settle({ ...world, service: other.url }, forgeFor(world));
    await honest.refuses("TOKEN", settled);
  });

  it("by a token with different claims than its payment", async () => {
    const { bundle, txSignature } = await pay(world);
    const lies: [string, Record<string, unknown>][] = [
      ["TOKEN_CLAIMS", { digest: signalsDigest(forgeFor(world).publicSignals.map(BigInt)) }],
      ["TOKEN_CLAIMS", { nullifier: String(randomField()) }],
      ["RECIPIENT_SIGNAL", { senderCommitment: String(randomField()) }],
      ["TOKEN_CLAIMS", { resourceHash: resourceHash("https://data.example/paid/b") }],
      ["TOKEN_CLAIMS", { timestamp: bundle.timestamp + 1000 }],
      ["TOKEN_CLAIMS", { validUntil: Number(validUntilOf(bundle.timestamp)) + 60 }],
      ["TOKEN_CLAIMS", { chainId: "1" }],
      ["TOKEN_CLAIMS", { pool: `0x${"77".repeat(20)}` }],
      ["TOKEN_CLAIMS", { recipient: `0x${"78".repeat(20)}` }],
      ["RECIPIENT_MONTH", { recipientKey: String(randomField()) }],
      ["TOKEN_CLAIMS", { recipientTag: String(randomField()) }],
      ["TOKEN", { jti: 5 }],
      ["TOKEN", { iss: "urn:sotto:1:0x00" }],
    ];
    for (const [reason, lie] of lies)
      await fooled.refusesBare(reason, { bundle, txSignature, paymentToken: liar.token(bundle, lie) });
    await fooled.takes(said(bundle, txSignature));
  });

  it("by a token with the expected claims for another settled payment", async () => {
    const resource = "https://data.example/paid/a";
    const elsewhere = await pay(world, { target: "/paid/b" });
    const token = liar.token(elsewhere.bundle, { resourceHash: resourceHash(resource) });
    await fooled.refusesBare("RESOURCE_SIGNAL", { ...elsewhere, paymentToken: token });
    const stranger = await createMerchant(world);
    const { wallet } = world.merchant;
    const stolen = await pay(world, { to: { wallet, shielded: stranger.shielded } });
    await fooled.refusesBare("RECIPIENT_SIGNAL", said(stolen.bundle, stolen.txSignature));
  });

  it("by a successful transaction that does not contain the payment", async () => {
    const nullifier = randomField();
    const [first, second] = [forgeFor(world, { nullifier }), forgeFor(world, { nullifier })];
    const receipt = await world.send(settleCall(world.pool, [first, second].map(callOf)));
    const names = receipt.logs.map((log) => pool.parseLog(log)?.name);
    expect(names).to.include.members(["Settled", "Skipped"]);
    await fooled.refuses("NOT_SETTLED", said(second, receipt.hash));
    await fooled.takes(said(first, receipt.hash));
  });

  it("by a copy of the pool's event, emitted by the payer's own contract", async () => {
    const bundle = forgeFor(world);
    const digest = signalsDigest(bundle.publicSignals.map(BigInt));
    const rest = Array.from({ length: 7 }, (_, index) => index);
    const { topics, data } = pool.encodeEventLog("Settled", [
      paymentSignals(bundle.publicSignals).nullifier,
      digest,
      ...rest,
    ]);
    const signer = await world.provider.getSigner(1);
    const sent = await signer.sendTransaction({ data: emitting(topics, data) });
    const receipt = await sent.wait();
    expect(receipt?.logs.map((log) => [log.topics, log.data])).to.deep.equal([[topics, data]]);
    await fooled.refuses("NOT_SETTLED", said(bundle, sent.hash));
  });

  it("by a failed settlement", async () => {
    const settled = await pay(world);
    const nullifier = BigInt(paymentSignals(settled.bundle.publicSignals).nullifier);
    const late = forgeFor(world, { nullifier });
    const signer = await world.provider.getSigner(1);
    const sent = await signer.sendTransaction({ ...settleCall(world.pool, [callOf(late)]), gasLimit: 1_000_000n });
    const receipt = await sent.wait().catch(() => undefined);
    const names = receipt?.logs.map((log) => pool.parseLog(log)?.name) ?? [];
    expect(names).to.not.include("Settled");
    await fooled.refuses("NOT_SETTLED", said(late, sent.hash));
  });
});
