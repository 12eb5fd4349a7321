// What a pool needs of its chain and its nodes. Each property is tested by requests, before anything is sent: chains change,
// and a list of names would be wrong about new ones. docs/chains.md has this table.
import { type Ask, askOr, parseQuantity, readHeader, run } from "./ask.ts";
import { batchProblem, missingPrecompiles } from "./precompiles.ts";
import {
  CHAIN_ID_PROBE,
  CODE_PROBE,
  GAS_PROBE,
  OPCODE_PROBES,
  PROBE_RESULT,
  STORAGE_PROBE,
  sizeProbe,
  TIME_PROBE,
} from "./probes.ts";

export interface ChainProperty {
  /** Its name in messages and in docs/chains.md. */
  readonly name: string;
  /** Why a pool needs it, for docs/chains.md. */
  readonly why: string;
  /** How it is tested, for docs/chains.md. */
  readonly test: string;
  /** What the operator reads if the chain lacks it, after what was found. */
  readonly consequence: string;
  /** Whether a chain without it is accepted, with a warning. */
  readonly isOptional?: boolean;
  /**
   * @returns what was found instead; undefined if the chain has the property
   * @throws the provider's error if the node does not answer
   */
  find(ask: Ask): Promise<string | undefined>;
}

/** Maximum seconds by which a node behind the same address may be late. */
const MAX_SECONDS_APART = 1_000n;
/** Times after the year 2200 are not in seconds. */
const MAX_TIME = 7_258_118_400n;
/** Blocks whose times are compared. */
const COMPARED_BLOCKS = 8n;
/** Bytes that the largest contract has, and those of the creation code that makes it, rounded up. */
export const MAX_CODE_BYTES = 18_000;
export const MAX_CREATION_BYTES = 20_000;
/** Gas limit of a transaction: that of a batch of 64 payments with the relayer's reserve of a quarter, rounded up. */
export const MAX_TRANSACTION_GAS = 8_000_000n;
/** Gas of the first write to a word of storage, with the cold access (EIP-2929), and a few opcodes. */
const MAX_STORAGE_GAS = 22_200n;
/** Blocks of one request for logs that a synchronization needs to be fast. */
const WIDE_RANGE = 1_000n;

const quantity = (value: bigint): string => `0x${value.toString(16)}`;
const NO_BLOCK = "the node does not return its newest block";

/** Requests the logs of an address that has none, of events that do not exist. @returns whether the answer is a list */
async function hasLogs(ask: Ask, from: bigint, to: bigint): Promise<boolean> {
  const topics = [[1, 2].map((topic) => `0x${topic.toString(16).padStart(64, "0")}`)];
  const filter = { address: `0x${"99".repeat(20)}`, fromBlock: quantity(from), toBlock: quantity(to), topics };
  return Array.isArray(await askOr(ask, "eth_getLogs", [filter], from < to));
}

/** The property that the tests of all others need. */
const CODE: ChainProperty = {
  name: "code in calls",
  why: "The other tests run code that way. EraVM, for example, has another bytecode and creates contracts in another way.",
  test: "`eth_call` without a recipient runs creation code, and returns its result",
  consequence: "the contracts would not run, or nothing else could be tested",
  find: async (ask) => {
    const answer = await run(ask, CODE_PROBE);
    if (parseQuantity(answer) === PROBE_RESULT) return undefined;
    return `creation code returns ${answer === undefined ? "an error" : answer.slice(0, 66)}`;
  },
};

export const CHAIN_PROPERTIES: readonly ChainProperty[] = [
  CODE,
  {
    name: "chain id",
    why: "Proofs and signatures are valid on one chain only: wallets and contracts must agree on its id.",
    test: "`CHAINID`, run by `eth_call`, equals `eth_chainId`",
    consequence: "no proof would be accepted",
    find: async (ask) => {
      const [seen, said] = [parseQuantity(await run(ask, CHAIN_ID_PROBE)), parseQuantity(await ask("eth_chainId", []))];
      return seen === said ? undefined : `contracts see chain id ${seen ?? "nothing"}, but the node reports ${said}`;
    },
  },
  {
    name: "opcodes",
    why: "The contracts are compiled for Prague, and use opcodes that older chains lack.",
    test: "`PUSH0`, `MCOPY`, `TSTORE` and `TLOAD`, each run by `eth_call`, compute the expected word",
    consequence: "the contracts would fail",
    find: async (ask) => {
      const missing: string[] = [];
      for (const [opcode, probe] of Object.entries(OPCODE_PROBES))
        if (parseQuantity(await run(ask, probe)) !== PROBE_RESULT) missing.push(opcode);
      return missing.length === 0 ? undefined : `no ${missing.join(", no ")}`;
    },
  },
  {
    name: "BN254 precompiles",
    why: "Contracts check proofs with EIP-196 and EIP-197. A call to an address without code succeeds and returns nothing.",
    test: "`eth_call` to addresses 6, 7 and 8: a sum, a product, a true and a false pairing",
    consequence: "contracts could not check proofs",
    find: async (ask) => {
      const missing = await missingPrecompiles(ask);
      return missing.length === 0 ? undefined : `no precompile at address ${missing.join(", ")}`;
    },
  },
  {
    name: "pairings of a batch",
    why: "64 payments are checked by one call with 67 pairings. Some chains limit their number or charge more gas, for which neither the relayer's budget nor its quotas are made.",
    test: "67 pairings in one call, run by `eth_call`, cost at most what EIP-1108 says, and 5,000 gas",
    consequence: "batches of payments would fail or cost more than quotas assume",
    find: batchProblem,
  },
  {
    name: "times",
    why: "Payments, withdrawals and authorizations expire at a time in seconds, and the queue's checkpoints close by it. A time that goes back would make an expired payment valid.",
    test: "the times of the newest eight blocks do not decrease and are seconds; `TIMESTAMP`, run by `eth_call`, is not before them",
    consequence: "payments could settle after they expired",
    find: async (ask) => {
      const head = await readHeader(ask, "latest");
      if (head === undefined) return NO_BLOCK;
      if (head.timestamp > MAX_TIME)
        return `the time of block ${head.number} is ${head.timestamp}, which is not in seconds`;
      // Anvil runs calls on a genesis block at second 1.
      const seen = head.number === 0n ? head.timestamp : parseQuantity(await run(ask, TIME_PROBE));
      if (seen === undefined || seen > MAX_TIME || seen < head.timestamp - MAX_SECONDS_APART)
        return `contracts see the time ${seen ?? "nothing"} after a block of ${head.timestamp}`;
      for (let later = head, back = 1n; back < COMPARED_BLOCKS && back <= head.number; back += 1n) {
        const earlier = await readHeader(ask, quantity(head.number - back));
        if (earlier === undefined) return `the node does not return block ${head.number - back}`;
        if (earlier.timestamp > later.timestamp) return `block ${later.number} is earlier than the block before it`;
        later = earlier;
      }
      return undefined;
    },
  },
  {
    name: "fees",
    why: "The relayer sends EIP-1559 transactions only, and limits their price by the base fee.",
    test: "the newest block has a `baseFeePerGas`",
    consequence: "the relayer could not send transactions",
    find: async (ask) => {
      const head = await readHeader(ask, "latest");
      if (head === undefined) return NO_BLOCK;
      return head.baseFee === undefined ? "blocks have no base fee" : undefined;
    },
  },
  {
    name: "contract size",
    why: "The largest contract has about 14 kB, and 18 kB of creation code. EIP-170 and EIP-3860 permit 24 kB and 48 kB.",
    test: "creation code of 20,000 bytes, run by `eth_call`, creates a contract of 18,000",
    consequence: "the pool could not be deployed",
    find: async (ask) => {
      const created = await run(ask, sizeProbe(MAX_CREATION_BYTES, MAX_CODE_BYTES));
      if (created === `0x${"00".repeat(MAX_CODE_BYTES)}`) return undefined;
      return `no contract of ${MAX_CODE_BYTES} bytes can be created`;
    },
  },
  {
    name: "gas limit",
    why: "A batch of 64 payments takes 6 million gas, and the relayer reserves a quarter more.",
    test: "the newest block's `gasLimit` is 8 million or more, and `GAS`, run by `eth_call`, is 4 million more with a limit of 8 million than with 4 million",
    consequence: "the largest batches would not fit into a block or a simulation",
    find: async (ask) => {
      const head = await readHeader(ask, "latest");
      if (head === undefined) return NO_BLOCK;
      if (head.gasLimit < MAX_TRANSACTION_GAS) return `blocks have ${head.gasLimit} gas`;
      // What is spent before the code runs is the same in both. On Arbitrum, it depends on prices of the parent chain.
      const left = async (gas: bigint) => parseQuantity(await run(ask, GAS_PROBE, { gas: quantity(gas) }));
      const [all, half] = [await left(MAX_TRANSACTION_GAS), await left(MAX_TRANSACTION_GAS / 2n)];
      if (all !== undefined && half !== undefined && all - half >= MAX_TRANSACTION_GAS / 2n) return undefined;
      return `calls have ${all ?? "no"} gas`;
    },
  },
  {
    name: "storage",
    why: "Quotas assume 480,000 gas for a payment, with what Ethereum charges for its writes. Some chains charge ten times as much.",
    test: "`SSTORE` of a new word, run by `eth_call`, costs 22,200 gas or less",
    consequence: "payments cost more than quotas assume; set SOTTO_CLIENT_QUOTA and SOTTO_SPONSOR_QUOTA",
    isOptional: true,
    find: async (ask) => {
      const gas = parseQuantity(await run(ask, STORAGE_PROBE));
      if (gas !== undefined && gas <= MAX_STORAGE_GAS) return undefined;
      return `a write to storage costs ${gas ?? "an unknown amount of"} gas`;
    },
  },
  {
    name: "gas estimates",
    why: "The relayer estimates each transaction on the newest block.",
    test: "`eth_estimateGas` with the block `latest` answers for a small creation",
    consequence: "the relayer could not send transactions",
    find: async (ask) => {
      const gas = parseQuantity(await askOr(ask, "eth_estimateGas", [{ data: CHAIN_ID_PROBE }, "latest"]));
      return gas !== undefined && gas > 0n ? undefined : "the node does not estimate gas";
    },
  },
  {
    name: "earlier blocks",
    why: "Service and wallets read the pool at the block whose events they have, which others may have followed.",
    test: "`eth_call` at the block before the newest one",
    consequence: "service and wallets could not read the pool consistently",
    find: async (ask) => {
      const head = await readHeader(ask, "latest");
      if (head === undefined) return NO_BLOCK;
      const block = quantity(head.number === 0n ? 0n : head.number - 1n);
      return (await run(ask, CHAIN_ID_PROBE, { block })) === undefined ? `no calls at block ${block}` : undefined;
    },
  },
  {
    name: "logs",
    why: "Service and wallets read the pool from its events.",
    test: "`eth_getLogs` of the newest block, for one address and two topics",
    consequence: "service and wallets could not read the pool",
    find: async (ask) => {
      const head = await readHeader(ask, "latest");
      if (head === undefined) return NO_BLOCK;
      return (await hasLogs(ask, head.number, head.number)) ? undefined : "the node does not return logs";
    },
  },
  {
    name: "logs of many blocks",
    why: "A new wallet reads all blocks since the deployment. If a node limits the range, smaller requests follow.",
    test: "`eth_getLogs` of the newest 1,000 blocks",
    consequence: "the first synchronization will need many requests",
    isOptional: true,
    find: async (ask) => {
      const head = await readHeader(ask, "latest");
      if (head === undefined) return NO_BLOCK;
      const from = head.number < WIDE_RANGE ? 0n : head.number - WIDE_RANGE + 1n;
      return (await hasLogs(ask, from, head.number)) ? undefined : `no logs of ${WIDE_RANGE} blocks in one request`;
    },
  },
];

/** A property that a chain lacks. */
export interface Lack {
  readonly property: ChainProperty;
  readonly found: string;
}

/** What the chain lacks, in the order of the table. If it runs no code in calls, nothing else is tested. @throws the provider's error if the node does not answer */
export async function lacksOf(ask: Ask): Promise<Lack[]> {
  const lacks: Lack[] = [];
  for (const property of CHAIN_PROPERTIES) {
    const found = await property.find(ask);
    if (found === undefined) continue;
    lacks.push({ property, found });
    if (property === CODE) break;
  }
  return lacks;
}

/** A lack in words. */
export const describeLack = ({ property, found }: Lack): string =>
  `${property.name}: ${found}, so ${property.consequence}`;
