// A node of a chain with a pool, whose time is the test's, and on which every wallet accepts every signature.
import { keccak_256 } from "@noble/hashes/sha3.js";
import { emptyRoots, TREE_DEPTH } from "@sotto/protocol";
import { type ScriptedNode, startScriptedNode } from "@sotto/test-kit/scripted-node";

const HASH = `0x${"11".repeat(32)}`;
const quantity = (value: number) => `0x${value.toString(16)}`;
const word = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}`;
const selector = (signature: string) =>
  `0x${Buffer.from(keccak_256(new TextEncoder().encode(signature)).subarray(0, 4)).toString("hex")}`;

const VIEWS = new Map([
  [selector("token()"), word(BigInt(`0x${"33".repeat(20)}`))],
  [selector("smallestDeposit()"), word(1n)],
  [selector("EMPTY_ROOT()"), word(emptyRoots()[TREE_DEPTH]!)],
  [selector("decimals()"), word(6n)],
]);

/** @param clock ms; blocks have this time */
export function startPoolNode(clock: () => number): Promise<ScriptedNode> {
  const block = ([tag]: unknown[]) => ({
    number: quantity(tag === "pending" ? 7 : 6),
    hash: tag === "pending" ? null : HASH,
    timestamp: quantity(Math.floor(clock() / 1000)),
  });
  return startScriptedNode({
    eth_chainId: quantity(31337),
    eth_blockNumber: quantity(6),
    eth_getCode: "0x00",
    eth_getBlockByNumber: block,
    // Without `to`, the call asks whether a wallet accepts a signature.
    eth_call: ([{ to, data = "" }]: [{ to?: string; data?: string }]) =>
      to === undefined ? word(1n) : VIEWS.get(data.slice(0, 10)),
  });
}
