// How a node answers if its chain lacks a property: one entry for each property of packages/deploy/src/chain/properties.ts.
import { BATCH_PROBE } from "@sotto/deploy/chain/precompiles";
import {
  CHAIN_ID_PROBE,
  CODE_PROBE,
  GAS_PROBE,
  OPCODE_PROBES,
  STORAGE_PROBE,
  TIME_PROBE,
} from "@sotto/deploy/chain/probes";
import type { Altered, CuttingProxy } from "@sotto/test-kit/cutting-proxy";

type Alter = NonNullable<CuttingProxy["alter"]>;

interface CallFields {
  readonly to?: string;
  readonly data?: string;
}

const word = (value: bigint): string => value.toString(16).padStart(64, "0");
const fails = (message: string, code = -32000): Altered => ({ error: { code, message } });
const call =
  (answers: (fields: CallFields, block: unknown) => Altered | undefined): Alter =>
  (method, params) =>
    method === "eth_call" ? answers(params[0] as CallFields, params[1]) : undefined;
const probe = (code: string, answer: Altered): Alter =>
  call(({ data }, block) => (data === code && block === "latest" ? answer : undefined));
const method =
  (name: string, answer: Altered): Alter =>
  (asked) =>
    asked === name ? answer : undefined;
const precompile = (address: number): Alter =>
  call(({ to }) => (to === `0x${address.toString(16).padStart(40, "0")}` ? { result: "0x" } : undefined));
/** A time after that of every block, by less than a node may be late. */
const SOON = `0x${(Math.floor(Date.now() / 1000) + 600).toString(16)}`;
/** @param block "latest" or "earlier" */
const header =
  (block: "latest" | "earlier", fields: object): Alter =>
  (asked, [number]) =>
    asked === "eth_getBlockByNumber" && (number === "latest") === (block === "latest")
      ? { result: { number: "0x4", timestamp: SOON, gasLimit: "0x3938700", baseFeePerGas: "0x1", ...fields } }
      : undefined;
const ofRange =
  (isWide: boolean, code?: number): Alter =>
  (asked, params) => {
    const { fromBlock, toBlock } = Object(params[0]) as { fromBlock?: string; toBlock?: string };
    return asked === "eth_getLogs" && (fromBlock !== toBlock) === isWide ? fails("range too large", code) : undefined;
  };

export interface LackingChain {
  /** The name of the property. */
  readonly property: string;
  /** What the message says was found. */
  readonly found: string;
  readonly alter: Alter;
}

/** The first entry of each property works together with the others' first entries, as on a chain that lacks everything. */
export const LACKING_CHAINS: readonly LackingChain[] = [
  // ZKsync's EraVM: creation code is not run.
  { property: "code in calls", found: "creation code returns 0x", alter: probe(CODE_PROBE, { result: "0x" }) },
  {
    property: "code in calls",
    found: "creation code returns an error",
    alter: probe(CODE_PROBE, fails("no recipient")),
  },
  { property: "chain id", found: "see chain id 1,", alter: probe(CHAIN_ID_PROBE, { result: `0x${word(1n)}` }) },
  ...Object.entries(OPCODE_PROBES).map(([opcode, code]) => ({
    property: "opcodes",
    found: `no ${opcode}`,
    alter: probe(code, fails("invalid opcode")),
  })),
  ...[6, 7, 8].map((address) => ({
    property: "BN254 precompiles",
    found: `precompile at address ${address}`,
    alter: precompile(address),
  })),
  {
    property: "pairings of a batch",
    found: "check of 67 pairings fails",
    alter: probe(BATCH_PROBE, { result: `0x${word(0n)}${word(0n)}${word(100_000n)}` }),
  },
  {
    property: "pairings of a batch",
    found: "costs 5460000 gas",
    alter: probe(BATCH_PROBE, { result: `0x${word(1n)}${word(1n)}${word(5_460_000n)}` }),
  },
  { property: "times", found: "see the time 1 after", alter: probe(TIME_PROBE, { result: `0x${word(1n)}` }) },
  { property: "times", found: "not in seconds", alter: header("latest", { timestamp: "0x19b00000000" }) },
  {
    property: "times",
    found: "earlier than the block before it",
    alter: header("earlier", { timestamp: "0xffffffff" }),
  },
  { property: "fees", found: "no base fee", alter: header("latest", { baseFeePerGas: undefined }) },
  {
    property: "contract size",
    found: "no contract of 18000 bytes",
    alter: call(({ data }) => ((data?.length ?? 0) > 40_000 ? fails("max initcode size exceeded") : undefined)),
  },
  {
    property: "gas limit",
    found: "calls have 3000000 gas",
    alter: probe(GAS_PROBE, { result: `0x${word(3_000_000n)}` }),
  },
  {
    property: "gas limit",
    found: "blocks have 5000000 gas",
    alter: header("latest", { gasLimit: "0x4c4b40" }),
  },
  {
    property: "storage",
    found: "costs 252100 gas",
    alter: probe(STORAGE_PROBE, { result: `0x${word(252_100n)}` }),
  },
  { property: "storage", found: "an unknown amount of gas", alter: probe(STORAGE_PROBE, fails("out of gas")) },
  {
    property: "gas estimates",
    found: "does not estimate",
    alter: method("eth_estimateGas", fails("too many arguments")),
  },
  {
    property: "earlier blocks",
    found: "no calls at block",
    alter: call((_, block) => (block === "latest" ? undefined : fails("missing trie node"))),
  },
  { property: "logs", found: "does not return logs", alter: ofRange(false) },
  { property: "logs of many blocks", found: "no logs of 1000 blocks", alter: ofRange(true) },
  // Besu and Infura.
  { property: "logs of many blocks", found: "no logs of 1000 blocks", alter: ofRange(true, -32005) },
];
