import { montgomeryEighth } from "../curve/montgomery.ts";
import { encryptAmount } from "../elgamal.ts";
import { fail } from "../errors.ts";
import type { ShieldedAddress } from "../shielded-address.ts";
import { assertAmount, assertField, assertObject } from "../validate.ts";
import { publicSignalsOf, type Statement } from "./types.ts";

/** The values from which the inputs of the circuit elgamal_range are computed. */
export interface RangeArguments {
  /** The recipient's shielded address. */
  readonly recipient: ShieldedAddress;
  /** Base units. */
  readonly amount: bigint;
  /** The payment's scalar, so that both proofs are for the same ciphertext. */
  readonly scalar: bigint;
  /** Base units, at most the amount. */
  readonly lowerBound: bigint;
  /** Base units, at least the amount. */
  readonly upperBound: bigint;
}

/**
 * The elgamal_range circuit's input and public signals: lowerBound <= amount <= upperBound.
 * @throws SottoError AMOUNT_OUT_OF_BOUNDS and the codes of malformed arguments
 */
export function prepareRange(args: RangeArguments): Statement<"elgamal_range"> {
  assertObject(args, "the range");
  assertObject(args.recipient, "recipient");
  const amount = assertAmount(args.amount);
  const lowerBound = assertAmount(args.lowerBound, "lowerBound");
  const upperBound = assertAmount(args.upperBound, "upperBound");
  if (amount < lowerBound || amount > upperBound)
    fail("AMOUNT_OUT_OF_BOUNDS", `the amount is not between the bounds ${lowerBound} and ${upperBound}`);
  const { encryptionKey, ownerTag } = args.recipient;
  const { R, C } = encryptAmount(encryptionKey, amount, args.scalar);
  const publicInput = {
    encryptedAmount: [R.x, C.x],
    recipientKey: encryptionKey.x,
    recipientTag: assertField(ownerTag, "recipient.ownerTag"),
    lowerBound,
    upperBound,
  };
  const recipientQ = montgomeryEighth(encryptionKey);
  return {
    input: { ...publicInput, recipientQ, scalar: args.scalar, amount },
    publicSignals: publicSignalsOf("elgamal_range", publicInput),
  };
}
