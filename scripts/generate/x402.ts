// node scripts/generate/x402.ts [--check]: writes docs/x402-vectors.json, a payment in x402's format and modified
// copies that a facilitator must reject. The payment comes from packages/protocol/test/vectors, which an independent
// implementation computed. It needs the built packages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bn254 } from "@noble/curves/bn254.js";
import { root } from "@sotto/keys/circuits/paths";
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";
import { deriveKeys, PAYMENT_SIGNAL, RANGE_SIGNAL } from "@sotto/protocol";
import { TypedDataEncoder, Wallet } from "ethers";

/** The recipient of the vectors: Hardhat's second account, whose key is public. */
const RECIPIENT_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
/** Circle's USDC on Base Sepolia. */
const ASSET = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
const ISSUED_AT = 1_795_243_800;

const BINDING = {
  ShieldedAddressBinding: [
    { name: "phone", type: "string" },
    { name: "wallet", type: "address" },
    { name: "key", type: "bytes" },
    { name: "chainId", type: "uint256" },
    { name: "pool", type: "address" },
    { name: "service", type: "string" },
    { name: "issuedAt", type: "uint64" },
  ],
};

interface Source {
  readonly deployment: { readonly chainId: string; readonly pool: string };
  readonly payment: Readonly<Record<"wallet" | "amount" | "resourceUrl" | "senderCommitment", string>> & {
    readonly timestamp: string | number;
  };
  readonly encryptedAmount: string;
  readonly publicSignals: readonly string[];
  readonly digest: string;
  readonly range: readonly string[];
}

/** Placeholder proofs: points that decode, but prove nothing. The vectors test everything except the proofs. */
function placeholderProof(): string[] {
  const [{ x, y }, g2] = [bn254.G1.Point.BASE.toAffine(), bn254.G2.Point.BASE.toAffine()];
  return [x, y, g2.x.c0, g2.x.c1, g2.y.c0, g2.y.c1, x, y].map(String);
}

/** Vectors with one changed field, either in both requirements and accepted or in the payload, and the expected reason. */
const REFUSED: readonly (readonly [where: "requirements" | "payload", path: string, value: unknown, reason: string])[] =
  [
    ["requirements", "scheme", "exact", "unsupported_scheme"],
    ["requirements", "network", "solana:mainnet", "invalid_network"],
    ["requirements", "amount", "1250001", "sotto_amount_mismatch"],
    ["requirements", "amount", "1249999", "sotto_amount_mismatch"],
    ["requirements", "amount", "1.25", "invalid_payment_requirements"],
    ["requirements", "amount", "01250000", "invalid_payment_requirements"],
    ["requirements", "amount", "0", "invalid_payment_requirements"],
    ["requirements", "payTo", "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc", "sotto_recipient_mismatch"],
    ["requirements", "extra.resource", "https://data.example/reports/2027", "sotto_resource_mismatch"],
    ["requirements", "extra.pool", "0x0000000000000000000000000000000000000001", "sotto_resource_mismatch"],
    ["requirements", "extra.recipient", null, "invalid_payment_requirements"],
    ["requirements", "maxTimeoutSeconds", 0, "invalid_payment_requirements"],
    ["payload", "senderCommitment", "1", "sotto_recipient_mismatch"],
    ["payload", "timestamp", 1_795_243_853_124, "sotto_resource_mismatch"],
    ["payload", "recipientPublicKey", "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc", "sotto_recipient_mismatch"],
    ["payload", "resourceUrl", "https://data.example/reports/2027", "sotto_resource_mismatch"],
    ["payload", "publicSignals.3", "5", "sotto_ciphertext_mismatch"],
    ["payload", "amountPublicSignals.5", "1375001", "sotto_amount_mismatch"],
    ["payload", "proof.0", "01", "invalid_payload"],
  ];

/** The payment of the vectors: requirements and payload in x402's format, and what follows from them. */
export async function createVectorPayment() {
  const vectors = join(root, "packages", "protocol", "test", "vectors", "payment.json");
  const source = JSON.parse(readFileSync(vectors, "utf8")) as Source;
  const { payment, deployment, range } = source;
  const chainId = BigInt(deployment.chainId);
  const { pool } = deployment;
  const seed = Uint8Array.from({ length: 32 }, (_, index) => 255 - index);
  const key = deriveKeys(seed, { chainId, pool }).shieldedAddress();
  const message = { phone: "", wallet: payment.wallet, key, chainId, pool, service: "", issuedAt: ISSUED_AT };
  const domain = { name: "sotto", version: "1" };
  const signature = await new Wallet(RECIPIENT_KEY).signTypedData(domain, BINDING, message);
  const requirements = {
    scheme: "sotto",
    network: `eip155:${chainId}`,
    asset: ASSET,
    amount: String(payment.amount),
    payTo: payment.wallet,
    maxTimeoutSeconds: 300,
    extra: {
      pool,
      decimals: 6,
      resource: payment.resourceUrl,
      service: "https://zk.example/zk",
      recipient: { shieldedAddress: key, signature, issuedAt: ISSUED_AT },
      challenge: "zk_req_1795243850000_a1b2c3d4",
      paymentFlow: "upfront",
    },
  };
  const [proof, amount] = [placeholderProof(), BigInt(payment.amount)];
  const payload = {
    proof,
    publicSignals: source.publicSignals,
    encryptedAmount: source.encryptedAmount,
    amountProof: proof,
    amountPublicSignals: [...range.slice(0, 4), String(amount), String((amount * 11n) / 10n)],
    senderCommitment: payment.senderCommitment,
    recipientPublicKey: payment.wallet,
    resourceUrl: payment.resourceUrl,
    timestamp: Number(payment.timestamp),
  };
  const derived = {
    bindingDigest: TypedDataEncoder.hash(domain, BINDING, message),
    lowerBound: payload.amountPublicSignals[RANGE_SIGNAL.lowerBound],
    upperBound: payload.amountPublicSignals[RANGE_SIGNAL.upperBound],
    nullifier: source.publicSignals[PAYMENT_SIGNAL.nullifier],
    digest: source.digest,
  };
  return { requirements, payload, derived };
}

export async function generateX402Vectors(): Promise<GeneratedFile> {
  const { requirements, payload, derived } = await createVectorPayment();
  const paymentPayload = { x402Version: 2, resource: { url: payload.resourceUrl }, accepted: requirements, payload };
  const file = {
    about: "docs/x402.md; written by scripts/generate/x402.ts. The proofs are placeholders and do not verify.",
    requirements,
    payload,
    header: Buffer.from(JSON.stringify(paymentPayload)).toString("base64"),
    derived,
    refused: REFUSED.map(([where, path, value, reason]) => ({ where, path, value, reason })),
  };
  return { path: join(root, "docs", "x402-vectors.json"), content: `${JSON.stringify(file, null, 2)}\n` };
}

if (import.meta.main) await runGenerators(generateX402Vectors);
