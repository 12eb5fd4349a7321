// The Grain LFSR that generates Poseidon's constants. A process generates them before its first hash, so the bits are
// made with small integers: one BigInt operation per bit would take most of that hash's time.
import { FIELD_MODULUS } from "../field.ts";

const FIELD_BITS = 254;
const WORD_BITS = 32;
const STATE_BITS = 80;
/** Bits discarded before the first output. */
const WARM_UP = 160;
/** The register is a ring, longer than the state, whose length is a power of 2. */
const RING = 127;

/** The fields of the seed with their widths in bits, and 30 ones. */
function seed(width: number, fullRounds: number, partialRounds: number): number[] {
  const fields = [
    [1, 2], // a prime field
    [0, 4], // the S-box is a power, not the inverse
    [FIELD_BITS, 12],
    [width, 12],
    [fullRounds, 10],
    [partialRounds, 10],
  ] as const;
  const bits = fields.flatMap(([value, size]) => Array.from({ length: size }, (_, i) => (value >> (size - 1 - i)) & 1));
  return [...bits, ...new Array<number>(STATE_BITS - bits.length).fill(1)];
}

/** The generator of one parameter set (generate_parameters_grain.sage 1 0 254 t RF RP p). */
export class Grain {
  readonly #ring = new Uint8Array(RING + 1);
  #position = STATE_BITS;

  /** @param width number of lanes */
  constructor(width: number, fullRounds: number, partialRounds: number) {
    this.#ring.set(seed(width, fullRounds, partialRounds));
    for (let i = 0; i < WARM_UP; i++) this.#step();
  }

  #step(): number {
    const ring = this.#ring;
    const at = this.#position++;
    const bit =
      ring[(at - 80) & RING]! ^
      ring[(at - 67) & RING]! ^
      ring[(at - 57) & RING]! ^
      ring[(at - 42) & RING]! ^
      ring[(at - 29) & RING]! ^
      ring[(at - 18) & RING]!;
    ring[at & RING] = bit;
    return bit;
  }

  /** Of each two bits of the register, the second is an output if the first is 1. */
  #bit(): number {
    for (;;) {
      const selected = this.#step();
      const bit = this.#step();
      if (selected === 1) return bit;
    }
  }

  #number(): bigint {
    let value = 0n;
    for (let rest = FIELD_BITS; rest > 0; ) {
      const size = rest % WORD_BITS === 0 ? WORD_BITS : rest % WORD_BITS;
      let word = 0;
      for (let i = 0; i < size; i++) word = (word << 1) | this.#bit();
      value = (value << BigInt(size)) | BigInt(word >>> 0);
      rest -= size;
    }
    return value;
  }

  /** The next numbers that are below the field's modulus: the round constants. */
  elements(count: number): bigint[] {
    const elements: bigint[] = [];
    while (elements.length < count) {
      const value = this.#number();
      if (value < FIELD_MODULUS) elements.push(value);
    }
    return elements;
  }

  /** The next numbers modulo the field's modulus: the generators of the matrix. */
  residues(count: number): bigint[] {
    return Array.from({ length: count }, () => this.#number() % FIELD_MODULUS);
  }
}
