import { decodeEvent, type PoolEvent } from "@sotto/chain";
import type { Bytes32 } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { decodeClaim } from "../core/claim.ts";
import { checkEvidence, type OriginEvidence, type ShownNote } from "../core/evidence.ts";
import type { SignedHead } from "../core/head.ts";
import { nullifiersOf } from "../core/nullifiers.ts";
import type { OriginSet } from "../core/set.ts";
import type { Download } from "./download.ts";
import { OriginError } from "./errors.ts";
import { lastHeadWithRoot } from "./heads.ts";
import type { ClaimRecord } from "./records.ts";
import type { Spent } from "./spends.ts";
import { hasBlock } from "./sync-set.ts";

/** What evidence is made from. */
export interface EvidenceParts {
  readonly set: OriginSet;
  /** Base URL of the curator's files. */
  readonly url: string;
  /** The newest head that the wallet took. */
  readonly newest: SignedHead;
  readonly spent: Spent;
  /** The origins of all notes that it spent. */
  readonly claims: readonly ClaimRecord[];
}

/**
 * Makes evidence of one spend.
 * @throws OriginError ORIGIN_SPEND_UNKNOWN if the chain does not have it any more, ORIGIN_TOO_LATE, CURATOR_UNREACHABLE,
 *   CURATOR_HEAD_INVALID; ChainError
 */
export async function makeEvidence(
  wallet: Pick<Wallet, "chain" | "pool">,
  access: Download,
  { set, url, newest, spent, claims }: EvidenceParts,
): Promise<OriginEvidence> {
  const event = await eventOf(wallet, spent);
  const notes: ShownNote[] = [];
  for (const record of claims) {
    const claim = decodeClaim(record);
    const wanted = { first: record.head, maskRoot: claim.maskRoot, newest };
    notes.push({ claim, ...(await lastHeadWithRoot(access, { set, url }, wanted, (head) => hasBlock(wallet, head))) });
  }
  const { blockNumber: block, timestamp: time } = spent;
  const transaction = spent.transactionHash as Bytes32;
  const evidence = { set, transaction, block, logIndex: event.logIndex, time, notes };
  // The wallet made the proofs, and read the event and the heads from its node: what can be wrong is the time.
  const [problem] = await checkEvidence(evidence, { set, verify: async () => true, chain: undefined });
  if (problem === undefined) return evidence;
  throw new OriginError("ORIGIN_TOO_LATE", `transaction ${transaction} has no evidence: ${problem}`, { transaction });
}

/** The event of a spend. The node learns its block, which the wallet's scan read with all others. */
async function eventOf({ chain, pool }: Pick<Wallet, "chain" | "pool">, spent: Spent): Promise<PoolEvent> {
  const { blockNumber, transactionHash, nullifiers } = spent;
  const logs = await chain.logs({ address: pool.pool, from: blockNumber, to: blockNumber });
  const found = logs
    .flatMap((log) => decodeEvent(log) ?? [])
    .find((event) => event.transactionHash === transactionHash && nullifiersOf(event).includes(nullifiers[0]!));
  if (found !== undefined) return found;
  throw new OriginError(
    "ORIGIN_SPEND_UNKNOWN",
    `the chain has no spend of this wallet in transaction ${transactionHash}`,
    {
      transaction: transactionHash,
    },
  );
}
