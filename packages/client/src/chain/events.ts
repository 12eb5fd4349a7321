import type { LogDescription } from "ethers";
import { WalletError } from "../errors.ts";
import { poolInterface } from "./abi.ts";
import type { RawLog } from "./source.ts";

/** Where on the chain an event stands. */
export interface EventPlace {
  blockNumber: number;
  blockHash: string;
  transactionHash: string;
  logIndex: number;
}

/** One note was deposited: owner tag and amount are public, the blinding follows from the leaf index. */
export interface DepositedEvent extends EventPlace {
  type: "deposited";
  ownerTag: bigint;
  amount: bigint;
  commitment: bigint;
  leafIndex: number;
}

/** A payment was settled: the recipient's note is at `leafIndex`, the change note behind it. */
export interface SettledEvent extends EventPlace {
  type: "settled";
  nullifier: bigint;
  /** keccak256 of the ten public signals. */
  digest: string;
  /** x of R. */
  encryptedAmountR: bigint;
  /** x of C, hidden by the sender commitment. */
  encryptedAmountC: bigint;
  amountHint: bigint;
  changeHint: bigint;
  recipientCommitment: bigint;
  changeCommitment: bigint;
  leafIndex: number;
}

/** Notes were merged or withdrawn. An unused nullifier is 0. */
export interface WithdrawnEvent extends EventPlace {
  type: "withdrawn";
  recipient: string;
  digest: string;
  nullifiers: readonly bigint[];
  amount: bigint;
  fee: bigint;
  feeRecipient: string;
  /** Seconds. */
  validUntil: bigint;
  changeHint: bigint;
  commitment: bigint;
  leafIndex: number;
}

/** Leaves `startIndex` to `startIndex + count - 1` are in the tree, whose root is now `newRoot`. */
export interface AppendedEvent extends EventPlace {
  type: "appended";
  newRoot: bigint;
  startIndex: number;
  count: number;
}

export type PoolEvent = DepositedEvent | SettledEvent | WithdrawnEvent | AppendedEvent;

/** The event of a log of the pool, undefined for one a wallet does not read (a skipped payment). */
export function decodeEvent(log: RawLog): PoolEvent | undefined {
  let parsed: LogDescription | null;
  try {
    parsed = poolInterface.parseLog(log);
  } catch (cause) {
    throw new WalletError("POOL_MISMATCH", `a log in block ${log.blockNumber} is not the pool's`, {}, { cause });
  }
  if (parsed === null) return undefined;
  const { blockNumber, blockHash, transactionHash, logIndex } = log;
  const place = { blockNumber, blockHash, transactionHash, logIndex };
  const { args } = parsed;
  const [leafIndex, commitment] = [Number(args["leafIndex"]), args["commitment"]];
  switch (parsed.name) {
    case "Deposited":
      return { ...place, type: "deposited", ownerTag: args["ownerTag"], amount: args["amount"], commitment, leafIndex };
    case "Settled":
      return {
        ...place,
        type: "settled",
        nullifier: args["nullifier"],
        digest: args["digest"],
        encryptedAmountR: args["encryptedAmountR"],
        encryptedAmountC: args["encryptedAmountC"],
        amountHint: args["amountHint"],
        changeHint: args["changeHint"],
        recipientCommitment: args["recipientCommitment"],
        changeCommitment: args["changeCommitment"],
        leafIndex,
      };
    case "Withdrawn":
      return {
        ...place,
        type: "withdrawn",
        recipient: args["recipient"],
        digest: args["digest"],
        nullifiers: [...args["nullifiers"]],
        amount: args["amount"],
        fee: args["fee"],
        feeRecipient: args["feeRecipient"],
        validUntil: args["validUntil"],
        changeHint: args["changeHint"],
        commitment,
        leafIndex,
      };
    case "Appended": {
      const [newRoot, startIndex, count] = [args["newRoot"], Number(args["startIndex"]), Number(args["count"])];
      return { ...place, type: "appended", newRoot, startIndex, count };
    }
    default:
      return undefined;
  }
}

/** The commitments an event adds to the queue, in the order of their leaf indices from `event.leafIndex` on. */
export function queuedLeaves(event: PoolEvent): readonly bigint[] {
  switch (event.type) {
    case "deposited":
    case "withdrawn":
      return [event.commitment];
    case "settled":
      return [event.recipientCommitment, event.changeCommitment];
    case "appended":
      return [];
  }
}
