import {
  type Bytes32,
  decodeBundle,
  type PaymentBundle,
  resourceDigest,
  signalsDigest,
  validUntilOf,
  type WireBundle,
} from "@sotto/protocol";

/** Where each public signal of a payment stands. */
export const PAYMENT_SIGNAL = { recipient: 0, resource: 1, root: 5, nullifier: 6 } as const;
/** And of a range proof. */
export const RANGE_SIGNAL = { recipientKey: 2, recipientTag: 3, lowerBound: 4 } as const;

/** A bundle as it came, and all that follows from it. */
export interface Bundle {
  /** The nine fields in the order of the interface. */
  readonly wire: WireBundle;
  readonly decoded: PaymentBundle;
  readonly resourceDigest: Bytes32;
  /** Seconds. */
  readonly validUntil: bigint;
  /** keccak256 of the ten signals. */
  readonly digest: Bytes32;
  readonly root: bigint;
  readonly nullifier: bigint;
}

/** @throws SottoError INVALID_BUNDLE */
export function readBundle(body: unknown): Bundle {
  const decoded = decodeBundle(body);
  const signals = decoded.publicSignals;
  return {
    wire: pick(body as WireBundle, decoded),
    decoded,
    resourceDigest: resourceDigest(decoded),
    validUntil: validUntilOf(decoded.timestamp),
    digest: signalsDigest(signals),
    root: signals[PAYMENT_SIGNAL.root]!,
    nullifier: signals[PAYMENT_SIGNAL.nullifier]!,
  };
}

/** Every value has one spelling by now, so the same bundle is the same text. */
export function canonicalJson({ wire }: Bundle): string {
  return JSON.stringify(wire);
}

/** Only addresses come in several spellings. */
function pick(body: WireBundle, { recipientPublicKey }: PaymentBundle): WireBundle {
  return {
    proof: body.proof,
    publicSignals: body.publicSignals,
    encryptedAmount: body.encryptedAmount,
    amountProof: body.amountProof,
    amountPublicSignals: body.amountPublicSignals,
    senderCommitment: body.senderCommitment,
    recipientPublicKey,
    resourceUrl: body.resourceUrl,
    timestamp: body.timestamp,
  };
}
