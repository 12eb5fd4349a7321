import { describe, fail } from "../errors.ts";
import {
  CIRCUITS,
  type CircuitName,
  type CircuitSignals,
  type ElgamalRangeSignals,
  type PaymentSignals,
  SIGNAL_POSITIONS,
  type WithdrawalSignals,
} from "../generated/circuits.ts";
import { assertArray, assertObject } from "../validate.ts";

/** Positions of a payment's public signals. */
export const PAYMENT_SIGNAL = SIGNAL_POSITIONS.payment;
/** Positions of an amount proof's public signals. */
export const RANGE_SIGNAL = SIGNAL_POSITIONS.elgamal_range;
/** Positions of a withdrawal's signals; `nullifiers` is the first of eight. */
export const WITHDRAWAL_SIGNAL = SIGNAL_POSITIONS.withdrawal;

/** The public signals of the circuit elgamal_range, by name. */
export type RangeSignals<Word = bigint> = ElgamalRangeSignals<Word>;

function byName<Name extends CircuitName, Word>(circuit: Name, words: readonly Word[]): CircuitSignals<Word>[Name] {
  const count = CIRCUITS[circuit].signalCount;
  assertArray(words, count, "INVALID_ARGUMENT", `the signals of ${circuit}`);
  const positions = Object.entries(SIGNAL_POSITIONS[circuit]);
  const named = positions.map(([name, position], i) => {
    const end = positions[i + 1]?.[1] ?? count;
    return [name, end - position === 1 ? words[position] : words.slice(position, end)];
  });
  return Object.fromEntries(named);
}

/**
 * A payment's public signals by name, read from wire order. Does not parse the words: decimal strings stay strings.
 * @throws SottoError INVALID_ARGUMENT if there are more or fewer
 */
export const paymentSignals = <Word>(words: readonly Word[]): PaymentSignals<Word> => byName("payment", words);

/** An amount proof's public signals by name. @throws SottoError INVALID_ARGUMENT if there are more or fewer */
export const rangeSignals = <Word>(words: readonly Word[]): RangeSignals<Word> => byName("elgamal_range", words);

/** A withdrawal's signals by name. @throws SottoError INVALID_ARGUMENT if there are more or fewer */
export const withdrawalSignals = <Word>(words: readonly Word[]): WithdrawalSignals<Word> => byName("withdrawal", words);

/** Public signals in wire order, from an object of signals by name. */
export function signalWords<Name extends CircuitName>(circuit: Name, signals: CircuitSignals[Name]): bigint[] {
  if (!Object.hasOwn(SIGNAL_POSITIONS, circuit)) fail("INVALID_ARGUMENT", `there is no circuit ${describe(circuit)}`);
  assertObject(signals, "the signals");
  const named = { ...signals } as Readonly<Record<string, bigint | bigint[]>>;
  return Object.keys(SIGNAL_POSITIONS[circuit]).flatMap((name) => named[name]!);
}
