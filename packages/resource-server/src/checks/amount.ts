import { type AmountBounds, type PaymentSignals, tryDecrypt, type Viewer } from "@sotto/protocol";
import { CheckFailed } from "../outcome.ts";

/**
 * What was paid, base units, decrypted with the recipient's viewing key from the note that the payment makes.
 *
 * @throws CheckFailed AMOUNT if the note cannot be decrypted, or is worth something else than was proven: then the proofs
 * prove nothing, as with development keys
 */
export function readAmount(viewer: Viewer, signals: PaymentSignals, { lowerBound, upperBound }: AmountBounds): bigint {
  const amount = tryDecrypt(viewer, signals)?.amount;
  if (amount === undefined || amount < lowerBound || amount > upperBound) throw new CheckFailed("AMOUNT");
  return amount;
}
