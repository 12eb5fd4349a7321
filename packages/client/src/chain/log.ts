import { FIELD_MODULUS } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { poolInterface } from "./abi.ts";
import type { RawLog } from "./source.ts";

/** The fields of an event's log, by name. */
export interface LogFields {
  name: string;
  /** Below p. */
  number(field: string): bigint;
  numbers(field: string): bigint[];
  /** The last `bytes` bytes of a field, lower-case hex with 0x. */
  hex(field: string, bytes: number): string;
}

interface Layout {
  name: string;
  /** Where a field begins, in words, and how many words it has; the indexed ones count from 0 in the topics. */
  fields: Map<string, { indexed: boolean; start: number; size: number }>;
  topics: number;
  words: number;
}

/**
 * All fields of the pool's events are words or fixed arrays of words, so they are read here, by the places the ABI gives
 * them: ethers' general decoder takes longer than everything else a scan does, the cryptography included.
 */
const layouts = new Map<string, Layout>();
poolInterface.forEachEvent(({ name, topicHash, inputs }) => {
  const layout: Layout = { name, fields: new Map(), topics: 0, words: 0 };
  for (const { name: field, type, indexed } of inputs) {
    const size = Number(/\[(\d+)\]$/.exec(type)?.[1] ?? 1);
    const place = indexed ? "topics" : "words";
    layout.fields.set(field, { indexed: indexed === true, start: layout[place], size });
    layout[place] += size;
  }
  layouts.set(topicHash, layout);
});

const DIGITS = 64;
const HEX = /^0x[0-9a-f]*$/;
const WORD = /^0x[0-9a-f]{64}$/;

/** Undefined for a log that is no event of the pool. @throws WalletError POOL_MISMATCH for a malformed one */
export function decodeLog({ topics, data, blockNumber }: RawLog): LogFields | undefined {
  const layout = layouts.get(topics[0] ?? "");
  if (layout === undefined) return undefined;
  const mismatch = () =>
    new WalletError("POOL_MISMATCH", `a log in block ${blockNumber} is not a ${layout.name} of the pool`);
  const shape = topics.length === layout.topics + 1 && data.length === 2 + DIGITS * layout.words;
  if (!shape || !HEX.test(data) || !topics.every((topic) => WORD.test(topic))) throw mismatch();
  const word = (field: string, offset = 0): string => {
    const { indexed, start } = layout.fields.get(field)!;
    const at = 2 + DIGITS * (start + offset);
    return indexed ? topics[1 + start]!.slice(2) : data.slice(at, at + DIGITS);
  };
  // The pool lets no number of p or above pass: one that came with a page would be in the way of every later scan.
  const number = (field: string, offset = 0): bigint => {
    const value = BigInt(`0x${word(field, offset)}`);
    if (value >= FIELD_MODULUS) throw mismatch();
    return value;
  };
  return {
    name: layout.name,
    number: (field) => number(field),
    numbers: (field) => Array.from({ length: layout.fields.get(field)!.size }, (_, i) => number(field, i)),
    hex: (field, bytes) => `0x${word(field).slice(-2 * bytes)}`,
  };
}
