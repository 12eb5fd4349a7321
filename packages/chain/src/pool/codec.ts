import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, FIELD_MODULUS, shieldedPoolAbi } from "@sotto/protocol";
import { ChainError } from "../errors.ts";
import type { Log } from "../rpc/values.ts";

/** The fields of an event's log, by name. */
export interface LogFields {
  name: string;
  /** Below p. */
  number(field: string): bigint;
  numbers(field: string): bigint[];
  /** The last `bytes` bytes of a field, lower-case hex with 0x. */
  hex(field: string, bytes: number): string;
}

/** The parts of a log that a decoder needs. */
export type EventLog = Omit<Log, "address">;

interface Layout {
  name: string;
  /** The first word of each field and its number of words; indexed fields are counted from 0 in the topics. */
  fields: Map<string, { indexed: boolean; start: number; size: number }>;
  topics: number;
  words: number;
}

interface AbiItem {
  readonly type: string;
  readonly name: string;
  readonly inputs: readonly { readonly name: string; readonly type: string; readonly indexed?: boolean }[];
}

/** Hex digits of a word. */
const DIGITS = 64;

const ABI = shieldedPoolAbi as readonly unknown[] as readonly AbiItem[];

const hashOf = (signature: string): string => bytesToHex(keccak_256(new TextEncoder().encode(signature)));

const signatureOf = ({ name, inputs }: AbiItem): string => `${name}(${inputs.map(({ type }) => type).join(",")})`;

/** The selector of a function: the first four bytes of its calldata. */
export const selectorOf = (signature: string): string => hashOf(signature).slice(0, 10);

/** Calldata for a function of the pool whose parameters are all words. */
export function poolCalldata(name: string, values: readonly bigint[]): string {
  const item = ABI.find((one) => one.type === "function" && one.name === name);
  if (item === undefined) throw new Error(`the pool has no function ${name}`);
  return selectorOf(signatureOf(item)) + values.map((value) => value.toString(16).padStart(DIGITS, "0")).join("");
}

let layouts: ReadonlyMap<string, Layout> | undefined;

/**
 * The layout of each event, by topic. All fields of the pool's events are words or fixed arrays of words, so they are
 * read at their ABI offsets. ethers' general decoder would take longer than the rest of a scan, including its
 * cryptography.
 */
function parseLayouts(): ReadonlyMap<string, Layout> {
  const found = new Map<string, Layout>();
  for (const item of ABI) {
    if (item.type !== "event") continue;
    const layout: Layout = { name: item.name, fields: new Map(), topics: 0, words: 0 };
    for (const { name, type, indexed = false } of item.inputs) {
      const size = Number(/\[(\d+)\]$/.exec(type)?.[1] ?? 1);
      const place = indexed ? "topics" : "words";
      layout.fields.set(name, { indexed, start: layout[place], size });
      layout[place] += size;
    }
    found.set(hashOf(signatureOf(item)), layout);
  }
  return found;
}

const HEX = /^0x[0-9a-f]*$/;
const WORD = /^0x[0-9a-f]{64}$/;

/** The fields of a log, undefined if it is not an event of the pool. @throws ChainError POOL_MISMATCH if malformed */
export function decodeLog({ topics, data, blockNumber }: EventLog): LogFields | undefined {
  layouts ??= parseLayouts();
  const layout = layouts.get(topics[0] ?? "");
  if (layout === undefined) return undefined;
  const mismatch = () =>
    new ChainError("POOL_MISMATCH", `a log in block ${blockNumber} is not a ${layout.name} of the pool`);
  const shape = topics.length === layout.topics + 1 && data.length === 2 + DIGITS * layout.words;
  if (!shape || !HEX.test(data) || !topics.every((topic) => WORD.test(topic))) throw mismatch();
  const word = (field: string, offset = 0): string => {
    const { indexed, start } = layout.fields.get(field)!;
    const at = 2 + DIGITS * (start + offset);
    return indexed ? topics[1 + start]!.slice(2) : data.slice(at, at + DIGITS);
  };
  // The pool accepts only numbers below p. If a page with a larger number were stored, every later scan would fail.
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
