import { assertChainId, type ChainSource, type SettledEvent } from "@sotto/chain";
import {
  type Address,
  addPoints,
  BASE8,
  multiplyPoint,
  negatePoint,
  type Point,
  pointFromX,
  recipientSignal,
  signalsDigest,
  signalWords,
} from "@sotto/protocol";
import { ReceiptError } from "../errors.ts";
import { cipherX, openWithShared } from "../open.ts";
import { periodEvents } from "./period.ts";
import { challengeOf, claimHash, type ParsedTotals, parseTotals, relationOf } from "./statement.ts";

/** The expected values that a statement of totals is checked against. */
export interface AssertTotalsOptions {
  /** Where the payments of the statement's blocks are read. */
  chain: ChainSource;
  /** EIP-155 id of the chain that the statement must be of. */
  chainId: bigint;
  /** Address of the pool that the statement must be of, 20 bytes, hex with 0x. */
  pool: string;
  /** Required confirmations of the statement's last block, 1 or more. */
  confirmations: number;
  /** The auditor that the statement must name. Default: any, so it may be a copy of one made for someone else. */
  auditor?: string | undefined;
  /** Receives the last block that was read and the last block to read, after each request for events. */
  onProgress?: ((progress: { block: number; to: number }) => void) | undefined;
  /** Aborts before the next request for events. */
  signal?: AbortSignal | undefined;
}

/** The facts that a checked statement proves. Amounts in base units. */
export interface CheckedTotals {
  /** EIP-155 id. */
  chainId: bigint;
  /** The pool of the payments. */
  pool: Address;
  /** The wallet address that the payers of the hidden payments named. Only a binding says whose it is. */
  wallet: Address;
  /** The address that was paid, 64 bytes, hex with 0x. */
  shieldedAddress: string;
  /** The auditor that the statement names, 1 to 256 characters. */
  auditor: string;
  /** First block, included. */
  fromBlock: number;
  /** Last block, included. */
  toBlock: number;
  /** Total paid to the address in these blocks, hidden and shown payments together. */
  total: bigint;
  /** Number of payments to the address, hidden and shown. */
  payments: number;
  /** How many of them have hidden amounts. */
  hidden: number;
  /** Payments whose amount is shown. */
  shown: { transaction: string; block: number; leafIndex: number; amount: bigint }[];
  /** Number of payments to others in these blocks. */
  others: number;
}

/**
 * Checks a statement of totals against the chain: that it covers exactly the settled payments and that its total is
 * their sum.
 * @throws ReceiptError RECEIPT_MALFORMED, RECEIPT_INVALID, RECEIPT_ELSEWHERE, RECEIPT_OTHER_CHALLENGE,
 *   RECEIPT_NOT_SETTLED; WalletError of the chain
 */
export async function assertTotals(value: unknown, options: AssertTotalsOptions): Promise<CheckedTotals> {
  const claim = parseTotals(value);
  const { chainId, pool, wallet, shieldedAddress, auditor, fromBlock, toBlock } = claim;
  if (chainId !== options.chainId || pool !== options.pool.toLowerCase())
    throw new ReceiptError("RECEIPT_ELSEWHERE", `it is of pool ${pool} on chain ${chainId}`);
  if (options.auditor !== undefined && auditor !== options.auditor)
    throw new ReceiptError("RECEIPT_OTHER_CHALLENGE", "it was made for someone else");
  await assertChainId(options.chain, chainId);
  const { events, blockHash } = await periodEvents({ ...options, pool, fromBlock, toBlock });
  if (blockHash !== claim.blockHash)
    throw new ReceiptError("RECEIPT_NOT_SETTLED", `the chain has a different block ${toBlock} than the statement`);
  const byLeaf = assertComplete(claim, events);
  const ciphers = claim.hidden.map((payment) => cipherOf(claim, payment, byLeaf.get(payment.leafIndex)!));
  if (!proofHolds(claim, byLeaf, ciphers)) throw invalid("the proof is not valid");
  const shown = claim.shared.flatMap(({ leafIndex, point }) => {
    const event = byLeaf.get(leafIndex)!;
    const amount = openWithShared(event, claim.address.ownerTag, point.x);
    const { transactionHash: transaction, blockNumber: block } = event;
    return amount === undefined ? [] : [{ transaction, block, leafIndex, amount }];
  });
  const total = shown.reduce((sum, { amount }) => sum + amount, claim.hiddenTotal);
  const hidden = claim.hidden.length;
  const counts = { payments: hidden + shown.length, hidden, others: claim.shared.length - shown.length };
  return { chainId, pool, wallet, shieldedAddress, auditor, fromBlock, toBlock, total, shown, ...counts };
}

/** Asserts that the statement names each payment of these blocks exactly once, and no other payment. */
function assertComplete({ hidden, shared }: ParsedTotals, events: readonly SettledEvent[]): Map<number, SettledEvent> {
  const byLeaf = new Map(events.map((event) => [event.leafIndex, event]));
  const named = [...hidden, ...shared].map(({ leafIndex }) => leafIndex);
  if (new Set(named).size !== named.length) throw invalid("it names a payment twice");
  const stranger = named.find((leafIndex) => !byLeaf.has(leafIndex));
  if (stranger !== undefined) throw invalid(`no payment of these blocks has leaf ${stranger}`);
  if (named.length !== byLeaf.size) throw invalid(`it leaves out ${byLeaf.size - named.length} payments`);
  return byLeaf;
}

/**
 * The point C of the ciphertext, which the chain hides. The sender commitment of the statement is genuine: another
 * one would change the signals, and their digest would differ from the event's.
 */
function cipherOf(claim: ParsedTotals, payment: ParsedTotals["hidden"][number], event: SettledEvent): Point {
  const { senderCommitment, resource, root, leafIndex } = payment;
  const { encryptionKey, ownerTag } = claim.address;
  const recipient = { wallet: claim.wallet, keyX: encryptionKey.x, ownerTag };
  const recipientAddress = recipientSignal(recipient, senderCommitment);
  const signals = signalWords("payment", { ...event, recipientAddress, resourceUrl: resource, root });
  if (signalsDigest(signals) !== event.digest)
    throw invalid(`its values for leaf ${leafIndex} do not open that payment`);
  return pointFromX(cipherX(event.hiddenCipherX, senderCommitment), "C.x");
}

function proofHolds(
  claim: ParsedTotals,
  events: ReadonlyMap<number, SettledEvent>,
  ciphers: readonly Point[],
): boolean {
  const { proof, address } = claim;
  const hash = claimHash(claim, events);
  const relation = relationOf(claim, hash, events, ciphers);
  const less = (point: Point) => negatePoint(multiplyPoint(point, proof.challenge));
  const first = addPoints(multiplyPoint(BASE8, proof.response), less(address.encryptionKey));
  const second = addPoints(multiplyPoint(relation.base, proof.response), less(relation.product));
  return challengeOf(hash, relation, first, second) === proof.challenge;
}

function invalid(problem: string): ReceiptError {
  return new ReceiptError("RECEIPT_INVALID", `the statement proves nothing: ${problem}`);
}
