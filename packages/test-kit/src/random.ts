import { keccak256, toUtf8Bytes } from "ethers";

/** Order of BN254's scalar field, to which all signals belong. */
export const SCALAR_FIELD_ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** Reproducible randomness for tests: the same seed gives the same run, so that a failure can be repeated. */
export class Random {
  #state: string;

  constructor(seed: string) {
    this.#state = keccak256(toUtf8Bytes(seed));
  }

  /** 256 bits. */
  word(): bigint {
    this.#state = keccak256(this.#state);
    return BigInt(this.#state);
  }

  /** A field element that is not 0. */
  field(): bigint {
    return (this.word() % (SCALAR_FIELD_ORDER - 1n)) + 1n;
  }

  /** An integer from 0 to `below` - 1. */
  below(below: number): number {
    return Number(this.word() % BigInt(below));
  }

  /** An integer from `first` to `last`. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new Error("pick from nothing");
    return value;
  }

  bytes32(): string {
    return `0x${this.word().toString(16).padStart(64, "0")}`;
  }

  address(): string {
    return `0x${(this.word() >> 96n).toString(16).padStart(40, "0")}`;
  }
}
