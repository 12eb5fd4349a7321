import { paymentContext, resourceDigest, validUntilOf } from "../contexts.ts";
import type { Deployment } from "../deployment.ts";
import type { PaymentSignals } from "../generated/circuits.ts";
import { type Recipient, recipientSignal } from "../secrets.ts";
import { assertObject } from "../validate.ts";
import type { Mismatch } from "./mismatch.ts";

/** The values that open a payment's two hiding signals, the recipient signal and the resource signal. */
export interface PaymentOpening {
  /** Chain and pool in which the payment settles. */
  readonly deployment: Deployment;
  /** Wallet and shielded address that are paid. */
  readonly recipient: Recipient;
  /** The URL that is paid for, byte for byte. */
  readonly resourceUrl: string;
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** Salt of both signals, a field element. */
  readonly senderCommitment: bigint;
}

/** The two hiding signals of a payment. */
export type OpenedSignals = Pick<PaymentSignals, "recipientAddress" | "resourceUrl">;

function recipientOf(opening: PaymentOpening): bigint {
  assertObject(opening, "the opening");
  return recipientSignal(opening.recipient, opening.senderCommitment);
}

function resourceOf(opening: PaymentOpening): bigint {
  assertObject(opening, "the opening");
  const { deployment, resourceUrl, timestamp, senderCommitment } = opening;
  const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment });
  return paymentContext({ ...deployment, validUntil: validUntilOf(timestamp), resourceDigest: digest });
}

/** Computes the recipient signal and the resource signal. */
export const signalsOfOpening = (opening: PaymentOpening): OpenedSignals => ({
  recipientAddress: recipientOf(opening),
  resourceUrl: resourceOf(opening),
});

/** Checks that the recipient signal opens to this wallet, shielded address and sender commitment. */
export function checkRecipientSignal(
  signals: Pick<OpenedSignals, "recipientAddress">,
  opening: PaymentOpening,
): Mismatch<"RECIPIENT_SIGNAL"> | undefined {
  assertObject(signals, "the signals");
  if (signals.recipientAddress === recipientOf(opening)) return undefined;
  return { kind: "RECIPIENT_SIGNAL", message: "publicSignals[0] does not open with the recipient" };
}

/** Checks that the resource signal opens to this URL, time, sender commitment, chain and pool. */
export function checkResourceSignal(
  signals: Pick<OpenedSignals, "resourceUrl">,
  opening: PaymentOpening,
): Mismatch<"RESOURCE_SIGNAL"> | undefined {
  assertObject(signals, "the signals");
  if (signals.resourceUrl === resourceOf(opening)) return undefined;
  return { kind: "RESOURCE_SIGNAL", message: "publicSignals[1] does not open with the resource, chain and pool" };
}

/** Checks that both signals open, the recipient signal first. */
export function checkOpening(
  signals: OpenedSignals,
  opening: PaymentOpening,
): Mismatch<"RECIPIENT_SIGNAL" | "RESOURCE_SIGNAL"> | undefined {
  return checkRecipientSignal(signals, opening) ?? checkResourceSignal(signals, opening);
}
