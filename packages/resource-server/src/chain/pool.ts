// What is asked of the ShieldedPool and its token. The few words are read by hand: no ABI library for four calls.

import { keccak_256 } from "@noble/hashes/sha3.js";
import { type Address, type Bytes32, bytesToHex, hexToBytes, parseAddress, shieldedPoolAbi } from "@sotto/protocol";
import { PaywallError } from "../errors.ts";
import type { Log, Node } from "./node.ts";
import type { Nodes } from "./nodes.ts";

const keccakHex = (text: string): string => bytesToHex(keccak_256(new TextEncoder().encode(text)));

function signature(type: "event" | "function", name: string): string {
  const item = shieldedPoolAbi.find((one) => one.type === type && "name" in one && one.name === name);
  if (item === undefined || !("inputs" in item)) throw new Error(`the pool has no ${type} ${name}`);
  return `${name}(${item.inputs.map((input) => input.type).join(",")})`;
}

const SETTLED = keccakHex(signature("event", "Settled"));
const selector = (text: string): string => keccakHex(text).slice(0, 10);
const SPENT_BY = selector(signature("function", "spentBy"));
const TOKEN = selector(signature("function", "token"));
const DECIMALS = selector("decimals()");

const word = (value: bigint): string => value.toString(16).padStart(64, "0");

/** One word, or an error for anything else: what is not a contract answers with nothing. */
function readWord(answer: string): string {
  return bytesToHex(hexToBytes(answer, 32, "a word"));
}

/** Digest of the payment (or withdrawal) that spent a note; zeros where none did. At the end of a block. */
export async function spentBy(node: Node, pool: Address, nullifier: bigint, block: number): Promise<Bytes32> {
  return readWord(await node.call({ to: pool, data: SPENT_BY + word(nullifier) }, block));
}

/** Whether one of the logs is the pool's word that this very payment was settled. */
export function showsSettled(logs: readonly Log[], pool: Address, nullifier: bigint, digest: Bytes32): boolean {
  return logs.some(
    ({ address, topics, data }) =>
      address === pool &&
      topics[0] === SETTLED &&
      topics[1] === `0x${word(nullifier)}` &&
      data.slice(0, digest.length) === digest,
  );
}

export interface PoolFacts {
  readonly token: Address;
  readonly decimals: number;
}

/** @throws PaywallError POOL_MISMATCH, CHAIN_UNAVAILABLE, WRONG_CHAIN */
export async function readPool(nodes: Nodes, pool: Address): Promise<PoolFacts> {
  const mismatch = (cause?: unknown) =>
    new PaywallError("POOL_MISMATCH", `what is at ${pool} is not a ShieldedPool`, { pool }, { cause });
  if ((await nodes.ask((node) => node.code(pool))) === "0x") throw mismatch();
  // A contract that is none reverts, which nodes tell as an error of their own.
  const token = parseAddress(`0x${readWord(await asked(nodes, pool, TOKEN, mismatch)).slice(26)}`);
  const decimals = BigInt(readWord(await asked(nodes, token, DECIMALS, mismatch)));
  if (decimals > 18n) throw mismatch();
  return { token, decimals: Number(decimals) };
}

async function asked(nodes: Nodes, to: Address, data: string, mismatch: (cause: unknown) => Error): Promise<string> {
  const answer = await nodes
    .ask((node) => node.call({ to, data }))
    .catch((cause: unknown) => {
      throw mismatch(cause);
    });
  if (answer.length !== 66) throw mismatch(undefined);
  return answer;
}
