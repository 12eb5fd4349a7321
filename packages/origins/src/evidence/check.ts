import { type ChainSource, decodeEvent, newestBlock, type PoolEvent, readBlock, useNode } from "@sotto/chain";
import { foreign, message, SottoError } from "@sotto/protocol";
import type { Verifier } from "@sotto/prover";
import {
  checkEvidence,
  decodeEvidence,
  type EvidenceChain,
  type OriginEvidence,
  spendingEvent,
} from "../core/evidence.ts";
import type { OriginSet } from "../core/set.ts";
import { EvidenceError } from "./errors.ts";
import { verifyClaim } from "./verify-claim.ts";

/** What a check of evidence needs. */
export interface AssertEvidenceOptions {
  /** The set that the reader asks for: it chooses the curator's account, and must not take it from the evidence. */
  readonly set: OriginSet;
  /** Verifies proofs of the circuit `origin`, with the keys of the pool's set. */
  readonly verifier: Pick<Verifier, "verify">;
  /** A node that the reader trusts. Without one, nothing shows that the transaction spent these notes. */
  readonly chain?: ChainSource | undefined;
  /** Blocks from the transaction's block on, itself included. Default: 1. */
  readonly confirmations?: number | undefined;
}

/** Evidence that is right. */
export interface CheckedEvidence extends Pick<OriginEvidence, "set" | "transaction" | "block" | "time"> {
  /** Number of notes that were spent. */
  readonly notes: number;
  /** The event that spent them, if a node was asked. A withdrawal tells its recipient and amount. */
  readonly event: PoolEvent | undefined;
}

/**
 * Checks evidence of another party.
 * @param text the file's content
 * @throws EvidenceError EVIDENCE_MALFORMED, EVIDENCE_INVALID, EVIDENCE_NOT_SETTLED; ChainError; CIRCUIT_UNKNOWN if the set of keys
 *   is older than the circuit
 */
export async function assertEvidence(text: string, options: AssertEvidenceOptions): Promise<CheckedEvidence> {
  const { set, verifier, chain: node, confirmations = 1 } = options;
  const evidence = read(text);
  const chain = node === undefined ? undefined : await readChain(node, evidence, confirmations);
  const problems = await checkEvidence(evidence, { set, verify: (claim) => verifyClaim(verifier, claim), chain });
  if (problems.length > 0)
    throw new EvidenceError("EVIDENCE_INVALID", `this is no evidence for the set: ${problems.join("; ")}`);
  const { transaction, block, time, notes } = evidence;
  const event = chain && spendingEvent(evidence, chain.events);
  return { set, transaction, block, time, notes: notes.length, event };
}

function read(text: string): OriginEvidence {
  try {
    return decodeEvidence(text);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new EvidenceError("EVIDENCE_MALFORMED", message`${foreign(cause.message)}`, {}, { cause });
  }
}

/** Reads the evidence's block and those of its heads. The node learns which they are. */
async function readChain(
  chain: ChainSource,
  { block: number, set }: OriginEvidence,
  confirmations: number,
): Promise<EvidenceChain> {
  const { number: height } = await newestBlock(chain);
  const has = height - number + 1;
  if (has < confirmations)
    throw new EvidenceError(
      "EVIDENCE_NOT_SETTLED",
      `block ${number} has ${Math.max(0, has)} confirmations of ${confirmations}`,
    );
  const events = await useNode(chain, async (node) => {
    await readBlock(node, number + confirmations - 1);
    const { timestamp } = await readBlock(node, number);
    const logs = await node.logs({ address: set.pool, from: number, to: number });
    return logs.flatMap((log) => decodeEvent({ ...log, timestamp }) ?? []);
  });
  return { events, block: (at) => chain.block(at) };
}
