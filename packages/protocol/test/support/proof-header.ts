import {
  BASE_FIELD_MODULUS,
  deriveKeys,
  encodeProofHeader,
  encryptAmount,
  FIELD_MODULUS,
  hiddenCipherX,
  PAYMENT_SIGNAL,
  packCiphertext,
  type WireBundle,
} from "../../src/index.ts";
import { DEPLOYMENT } from "./deployment.ts";

const { R, C } = encryptAmount(deriveKeys(new Uint8Array(32).fill(4), DEPLOYMENT).encryptionKey, 5n, 6n);
// The largest valid values. A header must have room for them.
const words = Array.from({ length: 8 }, (_, i) => String(BASE_FIELD_MODULUS - 1n - BigInt(i)));
export const signals = Array.from({ length: 10 }, (_, i) => String(FIELD_MODULUS - 1n - BigInt(i)));
signals[PAYMENT_SIGNAL.ephemeralX] = String(R.x);
signals[PAYMENT_SIGNAL.hiddenCipherX] = String(hiddenCipherX(C.x, FIELD_MODULUS - 1n));
export const bundle: WireBundle = {
  proof: words,
  publicSignals: signals,
  encryptedAmount: packCiphertext({ R, C }),
  amountProof: words,
  amountPublicSignals: [String(R.x), String(C.x), String(FIELD_MODULUS - 1n), "24", "5", "6"],
  senderCommitment: String(FIELD_MODULUS - 1n),
  recipientPublicKey: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  resourceUrl: "https://data.example/a?b=c#d",
  timestamp: 1_795_243_853_123,
};
export const paymentToken = `eyJh.${"Ab_-9".repeat(200)}.c2ln`;
export const txSignature = `0x${"ab".repeat(32)}`;
export const content = { bundle, paymentToken, txSignature };
export const header = encodeProofHeader(content);
export const json = JSON.parse(header) as Record<string, unknown>;
export const LISTED = ["proof", "publicSignals", "encryptedAmount", "amountProof", "recipientPublicKey", "timestamp"];
export const REST = ["senderCommitment", "amountPublicSignals", "resourceUrl"];
export const PAID = ["paymentToken", "txSignature"];
