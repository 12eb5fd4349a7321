import { assertChainId, type ChainSource, type SettledEvent } from "@sotto/chain";
import {
  addPoints,
  BASE8,
  decodeShieldedAddress,
  multiplyPoint,
  type Note,
  ProtocolError,
  packPoint,
  parseAddress,
  paymentSignals,
  pointFromX,
  recipientSignal,
  SUBGROUP_ORDER,
  scanNotes,
} from "@sotto/protocol";
import { hexlify, randomBytes } from "ethers";
import { ReceiptError } from "../errors.ts";
import { cipherX } from "../open.ts";
import { isPlainText } from "../parse.ts";
import { periodEvents } from "./period.ts";
import type { SignalSource } from "./signals.ts";
import { type Claim, challengeOf, claimHash, hashWords, relationOf, type TotalsStatement } from "./statement.ts";

/** The payments whose total is proved, and the auditor. */
export interface TotalsOptions {
  /** Where the payments of these blocks are read. */
  chain: ChainSource;
  /** EIP-155 id of the pool's chain. */
  chainId: bigint;
  /** Address of the pool, 20 bytes, hex with 0x. */
  pool: string;
  /** Viewing key of the shielded address. The statement does not reveal it. */
  viewingKey: bigint;
  /** The address that was paid, 64 bytes, hex with 0x. */
  shieldedAddress: string;
  /** The wallet address that payers name with the shielded address. */
  wallet: string;
  /** The auditor, 1 to 256 characters. The statement is valid only for this auditor. */
  auditor: string;
  /** First block, included. */
  fromBlock: number;
  /** Last block, included. At most 20,000 payments, to all recipients together, may be settled in these blocks. */
  toBlock: number;
  /** Required confirmations of `toBlock`, 1 or more. */
  confirmations: number;
  /** Source of the signals that events omit. Default: none, so that all amounts are shown. */
  signals?: SignalSource | undefined;
  /**
   * Shows the amounts of payments that cannot be hidden, because their signals are unknown or they name another wallet
   * address. Default: proving fails if there are such payments.
   */
  showRest?: boolean | undefined;
  /** Receives the last block that was read and the last block to read, after each request for events. */
  onProgress?: ((progress: { block: number; to: number }) => void) | undefined;
  /** Aborts before the next request or payment. */
  signal?: AbortSignal | undefined;
}

type Hidden = Claim["hidden"][number] & { amount: bigint; cipher: ReturnType<typeof pointFromX> };

/**
 * Proves the total that a shielded address was paid in a range of blocks, without revealing the viewing key.
 * docs/protocol.md (totals) says what it proves and what an auditor can guess.
 * @throws ReceiptError RECEIPT_MALFORMED, RECEIPT_NOT_SETTLED, RECEIPT_IMPOSSIBLE (details.payments); SottoError
 *   INVALID_KEY; WalletError of the chain
 */
export async function proveTotals(options: TotalsOptions): Promise<TotalsStatement> {
  const { chain, chainId, viewingKey, shieldedAddress, auditor, fromBlock, toBlock } = options;
  if (!isPlainText(auditor))
    throw new ReceiptError("RECEIPT_MALFORMED", "auditor is 1 to 256 characters without control characters");
  const address = decodeShieldedAddress(shieldedAddress);
  const { x, y } = multiplyPoint(BASE8, viewingKey);
  if (x !== address.encryptionKey.x || y !== address.encryptionKey.y)
    throw new ProtocolError("INVALID_KEY", "the viewing key is not that of the shielded address");
  const [pool, wallet] = [parseAddress(options.pool, "pool"), parseAddress(options.wallet, "wallet")];
  await assertChainId(chain, chainId);
  const { events, blockHash } = await periodEvents({ ...options, pool });
  const notes = scanNotes({ viewingKeys: [viewingKey], ownerTag: address.ownerTag }, events);

  const hidden: Hidden[] = [];
  const shared: Claim["shared"][number][] = [];
  for (const [i, event] of events.entries()) {
    options.signal?.throwIfAborted();
    const point = multiplyPoint(pointFromX(event.ephemeralX, "R"), viewingKey);
    const found = await hide(event, notes[i]!, point, { ...options, wallet, address });
    if (found === undefined) shared.push({ leafIndex: event.leafIndex, point });
    else hidden.push(found);
  }
  const rest = notes.filter((note) => note !== null).length - hidden.length;
  if (options.signals !== undefined && options.showRest !== true && rest > 0)
    throw new ReceiptError("RECEIPT_IMPOSSIBLE", `the amounts of ${rest} payments cannot be hidden`, {
      payments: rest,
    });
  const hiddenTotal = hidden.reduce((total, { amount }) => total + amount, 0n);
  const place = { chainId, pool, wallet, shieldedAddress, address, auditor, fromBlock, toBlock, blockHash };
  const claim: Claim = { ...place, hiddenTotal, hidden, shared };
  const byLeaf = new Map(events.map((event) => [event.leafIndex, event]));
  return compose(
    claim,
    prove(
      claim,
      viewingKey,
      byLeaf,
      hidden.map(({ cipher }) => cipher),
    ),
  );
}

type Context = TotalsOptions & { address: Claim["address"] };

/** The values that keep a payment's amount hidden; undefined if it is not the merchant's or its signals are unknown. */
async function hide(
  event: SettledEvent,
  note: Note | null,
  shared: Claim["shared"][number]["point"],
  { signals: source, wallet, address }: Context,
): Promise<Hidden | undefined> {
  // Requested for all payments, so that the node does not learn which transactions are the merchant's.
  const signals = await source?.(event);
  if (note === null || signals === undefined) return undefined;
  const cipher = addPoints(shared, multiplyPoint(BASE8, note.amount));
  const senderCommitment = cipherX(event.hiddenCipherX, cipher.x);
  const recipient = { wallet, keyX: address.encryptionKey.x, ownerTag: address.ownerTag };
  // A payer may have named another wallet with the shielded address. Then the payment cannot be opened under this wallet.
  const { recipientAddress, resourceUrl, root } = paymentSignals(signals);
  if (recipientSignal(recipient, senderCommitment) !== recipientAddress) return undefined;
  return { leafIndex: event.leafIndex, senderCommitment, resource: resourceUrl, root, amount: note.amount, cipher };
}

function prove(
  claim: Claim,
  viewingKey: bigint,
  events: ReadonlyMap<number, SettledEvent>,
  ciphers: readonly Hidden["cipher"][],
): { challenge: bigint; response: bigint } {
  const hash = claimHash(claim, events);
  const relation = relationOf(claim, hash, events, ciphers);
  // Hedged: even with a broken random generator, two claims never share a nonce, which would reveal the key.
  const random = BigInt(hexlify(randomBytes(48))) + hashWords([viewingKey, hash]);
  const nonce = (random % (SUBGROUP_ORDER - 1n)) + 1n;
  const [first, second] = [multiplyPoint(BASE8, nonce), multiplyPoint(relation.base, nonce)];
  const challenge = challengeOf(hash, relation, first, second);
  return { challenge, response: (nonce + challenge * viewingKey) % SUBGROUP_ORDER };
}

function compose(claim: Claim, { challenge, response }: { challenge: bigint; response: bigint }): TotalsStatement {
  const { chainId, pool, wallet, shieldedAddress, auditor, fromBlock, toBlock, blockHash } = claim;
  return {
    type: "sotto-totals",
    version: 1,
    chainId: String(chainId),
    pool,
    wallet,
    shieldedAddress,
    auditor,
    fromBlock,
    toBlock,
    blockHash,
    hiddenTotal: String(claim.hiddenTotal),
    hidden: claim.hidden.map(({ leafIndex, senderCommitment, resource, root }) => ({
      leafIndex,
      senderCommitment: String(senderCommitment),
      resource: String(resource),
      root: String(root),
    })),
    shared: claim.shared.map(({ leafIndex, point }) => ({ leafIndex, shared: packPoint(point) })),
    proof: { challenge: String(challenge), response: String(response) },
  };
}
