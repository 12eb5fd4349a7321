// The second checker's replay of a division with remainder.
import type { CertificateFile } from "./certificate.ts";
import { centred, inverse, mod, P } from "./field.ts";
import { need } from "./need.ts";

type Division = Extract<CertificateFile["steps"][number], { rule: "division" }>;
type Terms = ReadonlyMap<number, bigint>;

/** What the replay knows about the circuit. */
export interface Circuit {
  /** A constraint's sides; the constant is under 0. */
  readonly expand: (constraint: number) => readonly [Terms, Terms, Terms];
  /** The terms of a constraint that add up to 0, if it is linear. */
  readonly linear: (constraint: number) => Terms | undefined;
  readonly isBit: (wire: number) => boolean;
  readonly isKnown: (wire: number) => boolean;
}

/** The greatest value of a wire that is a sum of bits, or a bit. */
function greatest({ linear, isBit }: Circuit, wire: number, by: number | undefined): bigint {
  need(by !== undefined, "a range is missing");
  if (by < 0) {
    need(isBit(wire), "a wire without a range");
    return 1n;
  }
  const terms = linear(by);
  const own = terms?.get(wire);
  need(terms !== undefined && own !== undefined, "a range of another wire");
  const weight = inverse(-own);
  let total = 0n;
  for (const [key, k] of terms) {
    if (key === wire) continue;
    need(key !== 0 && isBit(key), "a range with a wire that is not a bit");
    total += mod(k * weight);
  }
  need(total < P, "a range above the prime");
  return total;
}

/** Throws unless the step determines its quotient and its remainder. */
export function replayDivision(step: Division, circuit: Circuit): void {
  const { by, quotient, remainder, divisor, ranges, less } = step;
  const { expand, linear, isBit, isKnown } = circuit;
  const isOther = (key: number) => key !== quotient && key !== remainder;
  need(!isOther(quotient) && quotient !== remainder && divisor !== quotient && divisor !== remainder, "one wire twice");
  const terms = linear(by);
  let fixed: bigint | undefined;
  if (divisor === undefined) {
    need(
      terms !== undefined && [...terms.keys()].every((key) => !isOther(key) || isKnown(key)),
      "another unknown wire",
    );
    const [inQ, inR] = [terms.get(quotient), terms.get(remainder)];
    need(inQ !== undefined && inR !== undefined, "not quotient and remainder");
    fixed = centred(inQ * inverse(inR));
    need(fixed > 0n, "the divisor is not positive");
  } else {
    need(terms === undefined && isKnown(divisor), "the divisor is not determined");
    const [a, b, c] = expand(by);
    const [x, y] = a.has(quotient) ? [a, b] : [b, a];
    need(x.size === 1 && y.size === 1 && x.has(quotient) && y.has(divisor), "not quotient times divisor");
    need(!c.has(quotient) && [...c.keys()].every((key) => key === remainder || isKnown(key)), "another unknown wire");
    const product = (x.get(quotient) as bigint) * (y.get(divisor) as bigint);
    need(mod(product + (c.get(remainder) ?? 0n)) === 0n, "the remainder has another factor");
  }
  const [q, r] = [greatest(circuit, quotient, ranges[0]), greatest(circuit, remainder, ranges[1])];
  const d = fixed ?? greatest(circuit, divisor as number, ranges[2]);
  need(d * q + r < P, "quotient times divisor may exceed the prime");
  if (less.length === 0) {
    need(fixed !== undefined && r < fixed, "the remainder may be the divisor or more");
    return;
  }
  const total = new Map<number, bigint>();
  for (const one of less) {
    const sum = linear(one.by);
    need(sum !== undefined, `constraint ${one.by} is not linear`);
    for (const [key, k] of sum) total.set(key, mod((total.get(key) ?? 0n) + one.scale * k));
  }
  const unit = inverse(total.get(remainder) ?? 0n);
  if (divisor !== undefined) need(mod((total.get(divisor) ?? 0n) * unit) === P - 1n, "not remainder less divisor");
  // r - D = rest, where the rest is a constant and bits.
  let [least, most] = [0n, 0n];
  for (const [key, k] of total) {
    if (k === 0n || key === remainder || key === divisor) continue;
    const part = centred(key === 0 ? -k * unit - (fixed ?? 0n) : -k * unit);
    need(key === 0 || isBit(key), "a wire that is not a bit");
    if (key === 0 || part < 0n) least += part;
    if (key === 0 || part > 0n) most += part;
  }
  if ((total.get(0) ?? 0n) === 0n) [least, most] = [least - (fixed ?? 0n), most - (fixed ?? 0n)];
  need(most < 0n, "the remainder may be the divisor or more");
  const bounds = [least, most, r, -d].sort((x, y) => (x < y ? -1 : 1));
  need((bounds[3] as bigint) - (bounds[0] as bigint) < P, "the difference may exceed the prime");
}
