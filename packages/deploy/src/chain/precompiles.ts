import { type Ask, askOr, run } from "./ask.ts";
import { precompileProbe } from "./probes.ts";

/** The generator (1, 2) of G1, its double, and its negative. */
const G = [1n, 2n];
const TWICE_G = [
  1368015179489954701390400359078579693043519447331113978918064868415326638035n,
  9918110051302171585080402603319702774565515993150576347155970296011118125764n,
];
const MINUS_G = [1n, 21888242871839275222246405745257275088696311157297823662689037894645226208581n];
/** The generator of G2, imaginary parts first. */
const H = [
  11559732032986387107991004021392285783925812861821192530917403151452391805634n,
  10857046999023057135944570762232829481370756359578518086990519993285655852781n,
  4082367875863433681332203403145435568316851327593401208105741076214120093531n,
  8495653923123431417604973247489272438418190587263600148770280649306958101930n,
];

/** What each precompile of BN254 (EIP-196 and EIP-197) must answer. */
const QUESTIONS: readonly { precompile: number; input: readonly bigint[]; result: readonly bigint[] }[] = [
  { precompile: 6, input: [...G, ...G], result: TWICE_G },
  { precompile: 7, input: [...G, 2n], result: TWICE_G },
  // A true and a false pairing: e(G, H) e(-G, H) = 1, and e(G, H) is not 1.
  { precompile: 8, input: [...G, ...H, ...MINUS_G, ...H], result: [1n] },
  { precompile: 8, input: [...G, ...H], result: [0n] },
];

const encode = (words: readonly bigint[]): string => words.map((word) => word.toString(16).padStart(64, "0")).join("");
const addressOf = (precompile: number): string => `0x${precompile.toString(16).padStart(40, "0")}`;

/** The BN254 precompiles that a chain lacks, by their addresses 6, 7 and 8. */
export async function missingPrecompiles(ask: Ask): Promise<number[]> {
  const missing = new Set<number>();
  for (const { precompile, input, result } of QUESTIONS) {
    const call = { to: addressOf(precompile), data: `0x${encode(input)}` };
    if ((await askOr(ask, "eth_call", [call, "latest"])) !== `0x${encode(result)}`) missing.add(precompile);
  }
  return [...missing];
}

/** Pairings of the largest batch: one for each of 64 payments, and three that they share. */
const BATCH_PAIRS = 67;
/** The largest gas of that check: EIP-1108, and 5,000 for the call and its memory. */
const BATCH_GAS = 45_000n + 34_000n * BigInt(BATCH_PAIRS) + 5_000n;
/** The point at infinity, whose pairing is 1. */
const INFINITY = [0n, 0n];

const trueBatch = [
  ...Array.from({ length: (BATCH_PAIRS - 1) / 2 }, () => [...G, ...H, ...MINUS_G, ...H]).flat(),
  ...INFINITY,
  ...H,
];
/** Creation code that checks the pairings of the largest batch. */
export const BATCH_PROBE: string = precompileProbe(8, encode(trueBatch));

/** How a chain's pairing check of the largest batch differs from EIP-197 and EIP-1108; undefined if it does not. */
export async function batchProblem(ask: Ask): Promise<string | undefined> {
  const answer = await run(ask, BATCH_PROBE);
  const words = /^0x([0-9a-f]{64}){3}$/.test(answer ?? "") ? answer!.slice(2).match(/.{64}/g)! : [];
  const [result, success, gas] = words.map((word) => BigInt(`0x${word}`));
  if (result !== 1n || success !== 1n || gas === undefined) return `a check of ${BATCH_PAIRS} pairings fails`;
  return gas > BATCH_GAS ? `a check of ${BATCH_PAIRS} pairings costs ${gas} gas, not ${BATCH_GAS} or less` : undefined;
}
