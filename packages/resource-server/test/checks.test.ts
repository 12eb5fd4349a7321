// All checks of a header together: each one runs, and a payment that passes is accepted once.
import { generateKeyPairSync, sign } from "node:crypto";
import { connectChain } from "@sotto/chain";
import { type PaymentTokenClaims, type ProofHeader, paymentSignals, resourceHash, TOKEN_TYPE } from "@sotto/protocol";
import { type ScriptedNode, startScriptedNode } from "@sotto/test-kit/scripted-node";
import { expect } from "chai";
import { Proofs } from "../src/checks/proofs.ts";
import { Settlements } from "../src/checks/settlement.ts";
import { Tokens } from "../src/checks/token.ts";
import { PaymentClaims } from "../src/claims/claims.ts";
import { ClaimStore } from "../src/claims/store.ts";
import { Checks, claimId } from "../src/paywall/checks.ts";
import { ServerClock } from "../src/paywall/server-clock.ts";
import { parseKeySet, TokenKeys } from "../src/service/token-keys.ts";
import {
  createRecipient,
  DEPLOYMENT,
  lastingRecipients,
  type PaymentChanges,
  PRICE,
  paymentTo,
  RESOURCE,
} from "./support/payment.ts";

const ISSUER = "https://pay.example/zk";
const recipient = createRecipient();
const stranger = createRecipient(`0x${"44".repeat(20)}`);
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function tokenOf(claims: PaymentTokenClaims): string {
  const text = `${base64({ alg: "EdDSA", kid: "a", typ: TOKEN_TYPE })}.${base64({ ...claims, iss: ISSUER })}`;
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString("base64url")}`;
}

describe("the checks of a header", () => {
  let node: ScriptedNode;
  let claims: PaymentClaims;
  let proven: Record<string, boolean>;
  let now: number;
  beforeEach(async () => {
    now = Date.now();
    proven = { payment: true, elgamal_range: true };
    node = await startScriptedNode({ eth_chainId: "0x7a69", eth_blockNumber: "0x10", eth_getTransactionReceipt: null });
    const onError = () => undefined;
    claims = new PaymentClaims(
      await ClaimStore.open({ url: "sqlite::memory:", clock: () => now, onError }),
      () => now,
      onError,
    );
  });
  afterEach(async () => {
    node.close();
    await claims.close();
  });

  async function open({ inMemory = false, viewingKey }: { inMemory?: boolean; viewingKey?: bigint } = {}) {
    const clock = () => now;
    const keys = await parseKeySet({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "a" }] });
    const chain = connectChain({ urls: [node.url], chainId: DEPLOYMENT.chainId, timeoutMs: 120_000, clock });
    const limits = { confirmations: 1, blockTimeMs: 1_000, waitMs: 0, clock };
    return new Checks({
      config: { recipients: lastingRecipients(recipient), deployment: DEPLOYMENT, inMemory },
      viewingKeyOf: () => viewingKey,
      claims,
      clock,
      startedAt: now,
      serverClock: new ServerClock({ chain, clock }),
      tokens: new Tokens(TokenKeys.pinned(keys, clock), [ISSUER]),
      proofs: new Proofs({ verify: async (circuit) => proven[circuit] === true, warm: async () => undefined }),
      settlements: new Settlements({ chain, pool: DEPLOYMENT.pool, ...limits }),
    });
  }

  /** A payment with a token of the service that the pool settled. */
  function paid(changes: PaymentChanges = {}, to = recipient) {
    const payment = paymentTo(to, { timestamp: now, ...changes });
    node.answers["eth_call"] = payment.claims.digest;
    return { ...payment, header: { ...payment.header, paymentToken: tokenOf(payment.claims) } };
  }
  const shown = (checks: Checks, header: ProofHeader, price = PRICE) =>
    checks.pass(header, { price, resource: RESOURCE }).then(
      ({ payment }) => payment.amount ?? "passes",
      ({ failure, code }) => failure ?? code,
    );

  it("accept a valid header once", async () => {
    const checks = await open();
    const { header, claims: said } = paid();
    const { payment, claim } = await checks.pass(header, { price: PRICE, resource: RESOURCE });
    const { digest, nullifier, wallet, resource, settledThere, bounds } = payment;
    expect({ digest, nullifier: String(nullifier), wallet, resource, settledThere, bounds }).to.deep.equal({
      digest: said.digest,
      nullifier: said.nullifier,
      wallet: recipient.wallet,
      resource: RESOURCE,
      settledThere: false,
      bounds: { lowerBound: PRICE, upperBound: (PRICE * 11n) / 10n },
    });
    expect(await shown(checks, header)).to.equal("IN_USE");
    await claim.finish(200);
    expect(await shown(checks, header)).to.equal("USED");
  });

  it("reject each invalid header", async () => {
    const checks = await open();
    const failures: Record<string, unknown> = {};
    const { header } = paid();
    failures["RECIPIENT"] = await shown(checks, { ...header, recipientPublicKey: stranger.wallet });
    const [old, future] = [paid({ timestamp: now - 300_001 }), paid({ timestamp: now + 30_001 })];
    failures["TOO_OLD"] = await shown(checks, old.header);
    failures["FROM_THE_FUTURE"] = await shown(checks, future.header);
    failures["TOKEN"] = await shown(checks, { ...header, paymentToken: `${header.paymentToken.slice(0, -8)}AAAAAAAA` });
    failures["TOKEN_CLAIMS"] = await shown(checks, { ...header, paymentToken: paid().header.paymentToken });
    const theirs = paid({}, { ...stranger, wallet: recipient.wallet });
    const { recipientKey, recipientTag } = paymentTo(recipient).claims;
    const lie = tokenOf({ ...theirs.claims, recipientKey, recipientTag });
    failures["RECIPIENT_SIGNAL"] = await shown(checks, { ...theirs.header, paymentToken: lie });
    const elsewhere = paid({ resource: "https://data.example/cheap" });
    const wrong = tokenOf({ ...elsewhere.claims, resourceHash: resourceHash(RESOURCE) });
    failures["RESOURCE_SIGNAL"] = await shown(checks, { ...elsewhere.header, paymentToken: wrong });
    failures["CIPHERTEXT"] = await shown(checks, { ...header, encryptedAmount: elsewhere.header.encryptedAmount });
    node.answers["eth_call"] = `0x${"00".repeat(32)}`;
    failures["NOT_SETTLED"] = await shown(checks, header);
    const fresh = paid();
    proven["payment"] = false;
    failures["PROOF"] = await shown(checks, fresh.header);
    Object.assign(proven, { payment: true, elgamal_range: false });
    failures["AMOUNT_PROOF"] = await shown(checks, fresh.header);
    proven["elgamal_range"] = true;
    expect(failures).to.deep.equal(Object.fromEntries(Object.keys(failures).map((name) => [name, name])));
    expect(Object.keys(failures).length).to.equal(11);
    // None of them consumed the payment.
    expect(await shown(checks, fresh.header)).to.equal("passes");
  });

  it("reject what the header alone disproves, without querying the chain or verifying proofs", async () => {
    const checks = await open();
    const { header } = paid();
    for (let i = 0; i < 20; i++) await shown(checks, { ...header, paymentToken: "a.b.c" });
    expect(node.methods).to.deep.equal([]);
    await (await checks.pass(header, { price: PRICE, resource: RESOURCE })).claim.finish(200);
    const before = node.methods.length;
    for (let i = 0; i < 20; i++) expect(await shown(checks, header)).to.equal("USED");
    expect(node.methods.length).to.equal(before);
  });

  it("read the amount with a viewing key, and reject a proof that contradicts it", async () => {
    const checks = await open({ viewingKey: recipient.viewingKey });
    expect(await shown(checks, paid({ amount: PRICE + 1n }).header)).to.equal(PRICE + 1n);
    expect(await shown(checks, paid({ amount: PRICE - 1n }).header)).to.equal("AMOUNT");
  });

  it("accept no payment from before the start without a persistent store", async () => {
    const checks = await open({ inMemory: true });
    expect(await shown(checks, paid({ timestamp: now - 1 }).header)).to.equal("BEFORE_START");
    const early = paid({ timestamp: now + 900 });
    expect(await shown(checks, early.header)).to.equal("FROM_THE_FUTURE");
    now += 900;
    expect(await shown(checks, early.header)).to.equal("passes");
  });

  it("identify a payment by its note, and accept only one of two payments from it", async () => {
    const checks = await open();
    const { header } = paid();
    const id = claimId(DEPLOYMENT, paymentSignals(header.publicSignals).nullifier);
    const other = { id, digest: "0x02", resource: "https://data.example/b", expiresAt: now + 60_000 };
    await (await claims.acquire(other)).finish(503);
    expect(await shown(checks, header)).to.equal("USED");
  });
});
