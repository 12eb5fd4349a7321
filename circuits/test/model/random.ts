import { P } from "@sotto/certify/check/field";

/**
 * A reproducible source of field elements and integers: xorshift128+ from a seed. The quality of the randomness does
 * not matter; failures must be reproducible.
 */
export class Random {
  #a: bigint;
  #b: bigint;

  constructor(seed: number) {
    this.#a = BigInt(seed) * 0x9e3779b97f4a7c15n + 1n;
    this.#b = 0x243f6a8885a308d3n;
    for (let i = 0; i < 16; i++) this.#word();
  }

  #word(): bigint {
    const mask = 2n ** 64n - 1n;
    let next = this.#a & mask;
    const last = this.#b;
    this.#a = last;
    next ^= (next << 23n) & mask;
    this.#b = next ^ last ^ (next >> 18n) ^ (last >> 5n);
    return (this.#b + last) & mask;
  }

  bits(count: number): bigint {
    let value = 0n;
    for (let have = 0; have < count; have += 64) value = (value << 64n) | this.#word();
    return value & (2n ** BigInt(count) - 1n);
  }

  field(): bigint {
    return this.bits(320) % P;
  }

  /** An integer in [0, limit). */
  below(limit: bigint): bigint {
    return this.bits(limit.toString(2).length + 64) % limit;
  }
}
