// node scripts/generate/mpp.ts [--check]: writes docs/mpp-vectors.json, a challenge of MPP's method sotto with its credential and
// receipt, and copies that must be refused. It uses nothing of @sotto/mpp, which is tested against it.
import { createHash, createHmac } from "node:crypto";
import { join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";
import { createVectorPayment } from "./x402.ts";

const SECRET = "vectors-of-mpp-are-no-secret-at-all";
const BODY = '{"question":"why"}';

const base64url = (text: string): string => Buffer.from(text).toString("base64url");

export async function generateMppVectors(): Promise<GeneratedFile> {
  const { requirements, payload } = await createVectorPayment();
  const { amount, asset, payTo, extra } = requirements;
  const { shieldedAddress, signature, issuedAt } = extra.recipient;
  // The keys are written in the order of RFC 8785.
  const request = {
    amount,
    currency: asset,
    methodDetails: {
      chainId: Number(requirements.network.slice("eip155:".length)),
      decimals: extra.decimals,
      pool: extra.pool,
      recipient: { issuedAt, shieldedAddress, signature },
      resource: extra.resource,
      service: extra.service,
    },
    recipient: payTo,
  };
  const canonical = JSON.stringify(request);
  const resource = createHash("sha256").update(`POST ${extra.resource}`).digest("base64url");
  const bound = {
    realm: "data.example",
    method: "sotto",
    intent: "charge",
    request: base64url(canonical),
    expires: "2026-11-21T08:00:00Z",
    digest: `sha-256=:${createHash("sha256").update(BODY).digest("base64")}:`,
    opaque: base64url(JSON.stringify({ resource })),
  };
  const { realm, method, intent, expires, digest, opaque } = bound;
  const input = [realm, method, intent, bound.request, expires, digest, opaque].join("|");
  const challenge = { id: createHmac("sha256", SECRET).update(input).digest("base64url"), ...bound };
  const { senderCommitment: _, amountPublicSignals: __, resourceUrl: ___, ...proof } = payload;
  const shown = { ...proof, paymentToken: "eyJhbGciOiJFZERTQSJ9.e30.AA", txSignature: `0x${"5a".repeat(32)}` };
  const credential = JSON.stringify({ challenge, payload: shown });
  const receipt = {
    method,
    reference: shown.txSignature,
    status: "success",
    timestamp: "2026-11-21T07:51:00.000Z",
    challengeId: challenge.id,
  };
  const twice = `${credential.slice(0, -1)},"payload":{}}`;
  const file = {
    about: "docs/mpp.md; written by scripts/generate/mpp.ts. The proofs are placeholders and do not verify.",
    secret: SECRET,
    body: BODY,
    request,
    binding: input,
    challenge,
    challengeHeader: `Payment ${Object.entries(challenge)
      .map(([name, value]) => `${name}="${value}"`)
      .join(", ")}`,
    payload: shown,
    credentialHeader: `Payment ${base64url(credential)}`,
    receipt,
    receiptHeader: base64url(JSON.stringify(receipt)),
    refusedRequests: {
      "keys in another order": base64url(JSON.stringify(Object.fromEntries(Object.entries(request).reverse()))),
      "white space": base64url(canonical.replace(":", ": ")),
      "an amount that is a number": base64url(canonical.replace(`"${amount}"`, amount)),
      "amount 0": base64url(canonical.replace(`"${amount}"`, '"0"')),
      "a chain id that is a text": base64url(canonical.replace(/"chainId":(\d+)/, '"chainId":"$1"')),
      "a signature that is not hex": base64url(canonical.replace(signature, "0xzz")),
    },
    refusedCredentials: {
      padding: `Payment ${base64url(credential)}=`,
      "the same key twice": `Payment ${base64url(twice)}`,
      "a challenge without id": `Payment ${base64url(JSON.stringify({ challenge: bound, payload: shown }))}`,
      "a request that is not encoded": `Payment ${base64url(JSON.stringify({ challenge: { ...challenge, request }, payload: shown }))}`,
      "a receipt": `Payment ${base64url(JSON.stringify(receipt))}`,
    },
  };
  return { path: join(root, "docs", "mpp-vectors.json"), content: `${JSON.stringify(file, null, 2)}\n` };
}

if (import.meta.main) await runGenerators(generateMppVectors);
