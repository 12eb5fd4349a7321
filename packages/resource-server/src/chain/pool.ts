// What is asked of the ShieldedPool and its token. The few words are read by hand: no ABI library for four calls.

import { keccak_256 } from "@noble/hashes/sha3.js";
import { type Chain, type ChainNode, isNodeFault, type Log } from "@sotto/chain";
import { type Address, type Bytes32, bytesToHex, parseAddress, shieldedPoolAbi } from "@sotto/protocol";
import { PaywallError } from "../errors.ts";

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

const isWord = (answer: string): answer is Bytes32 => answer.length === 66;

/** Digest of the payment (or withdrawal) that spent a note; zeros if none did. At the end of a block. */
export async function spentBy(node: ChainNode, pool: Address, nullifier: bigint, block: number): Promise<Bytes32> {
  const answer = await node.call({ to: pool, data: SPENT_BY + word(nullifier) }, block);
  if (!isWord(answer)) throw node.inconsistent("gives spentBy a result that is not a word");
  return answer;
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
export async function readPool(chain: Chain, pool: Address): Promise<PoolFacts> {
  const mismatch = (cause?: unknown) =>
    new PaywallError("POOL_MISMATCH", `the contract at ${pool} is not a ShieldedPool`, { pool }, { cause });
  const ask = async (to: Address, data: string): Promise<Bytes32> => {
    const answer = await chain.call({ to, data });
    if (!isWord(answer)) throw mismatch();
    return answer;
  };
  try {
    if ((await chain.code(pool)) === "0x") throw mismatch();
    const token = parseAddress(`0x${(await ask(pool, TOKEN)).slice(26)}`);
    const decimals = BigInt(await ask(token, DECIMALS));
    if (decimals > 18n) throw mismatch();
    return { token, decimals: Number(decimals) };
  } catch (cause) {
    if (cause instanceof PaywallError) throw cause;
    if (!isNodeFault(cause)) throw mismatch(cause);
    const { code, message, details } = cause;
    if (code === "WRONG_CHAIN") throw new PaywallError(code, message, details, { cause });
    throw new PaywallError("CHAIN_UNAVAILABLE", `no node of chain.rpcUrls answers: ${message}`, {}, { cause });
  }
}
