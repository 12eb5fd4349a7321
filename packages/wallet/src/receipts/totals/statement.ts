import type { SettledEvent } from "@sotto/chain";
import {
  type Address,
  addPoints,
  BASE8,
  decodeShieldedAddress,
  IDENTITY,
  multiplyPoint,
  negatePoint,
  type Point,
  parseAddress,
  parseField,
  pointFromX,
  type ShieldedAddress,
  SUBGROUP_ORDER,
  unpackPoint,
} from "@sotto/protocol";
import { AbiCoder, keccak256, toUtf8Bytes } from "ethers";
import { isPlainText, malformed, parseBlock, parseChainId, parseDocument, parseHash, reading } from "../parse.ts";

const WHAT = "a statement of totals";

/** Maximum payments, the merchant's and others', in the blocks of one statement: checking them takes minutes. */
export const MAX_EVENTS = 20_000;

/** A payment whose amount stays hidden, with the values that reveal its true C to the auditor. Decimal strings. */
export interface HiddenPayment {
  /** Index of the payment's note in the tree. */
  readonly leafIndex: number;
  /** Shows the auditor the true C, which the chain hides. */
  readonly senderCommitment: string;
  /** Signal 1 (resourceUrl). With root, address and event, the auditor computes the digest of all signals. */
  readonly resource: string;
  /** Signal 5 (root). */
  readonly root: string;
}

/**
 * Any other payment: the point S = vk R, packed. It opens the note if the note is the merchant's, and reveals nothing
 * else.
 */
export interface SharedPoint {
  /** Index of the recipient's note in the tree. */
  readonly leafIndex: number;
  /** S, 32 bytes, hex with 0x. */
  readonly shared: string;
}

/** A statement of the total that one shielded address was paid in a range of blocks, as JSON. */
export interface TotalsStatement {
  /** Names the format. */
  readonly type: "sotto-totals";
  /** Version of the format. */
  readonly version: 1;
  /** EIP-155 id, decimal. */
  readonly chainId: string;
  /** Address of the pool, 20 bytes, lower-case hex with 0x. */
  readonly pool: string;
  /** The wallet address that payers name with the shielded address, 20 bytes, lower-case hex with 0x. */
  readonly wallet: string;
  /** The address that was paid, 64 bytes, hex with 0x. */
  readonly shieldedAddress: string;
  /** The auditor that the statement is made for: a text, such as a name and a date, of 1 to 256 characters. */
  readonly auditor: string;
  /** First block, included. */
  readonly fromBlock: number;
  /** Last block, included. */
  readonly toBlock: number;
  /** Hash of `toBlock`, which binds the statement to one chain history. */
  readonly blockHash: string;
  /** Sum of the hidden payments, base units, decimal. */
  readonly hiddenTotal: string;
  /** Payments to the address whose amounts count only in `hiddenTotal`. */
  readonly hidden: readonly HiddenPayment[];
  /** All other payments of these blocks: those to the address with a visible amount, and those to others. */
  readonly shared: readonly SharedPoint[];
  /** Challenge and response of the Chaum-Pedersen proof, decimal. */
  readonly proof: { readonly challenge: string; readonly response: string };
}

/** A parsed statement; none of its claims are checked yet. */
export interface ParsedTotals {
  readonly chainId: bigint;
  readonly pool: Address;
  readonly wallet: Address;
  readonly shieldedAddress: string;
  readonly address: ShieldedAddress;
  readonly auditor: string;
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly blockHash: string;
  readonly hiddenTotal: bigint;
  readonly hidden: readonly { leafIndex: number; senderCommitment: bigint; resource: bigint; root: bigint }[];
  readonly shared: readonly { leafIndex: number; point: Point }[];
  readonly proof: { readonly challenge: bigint; readonly response: bigint };
}

/** @throws ReceiptError RECEIPT_MALFORMED */
export function parseTotals(value: unknown): ParsedTotals {
  const fields = parseDocument(value, "sotto-totals", WHAT);
  return reading(WHAT, () => {
    const { auditor, shieldedAddress } = fields;
    if (!isPlainText(auditor)) throw malformed(WHAT, "auditor is not plain text of 1 to 256 characters");
    const [hidden, shared] = [list(fields["hidden"], "hidden"), list(fields["shared"], "shared")];
    if (hidden.length + shared.length > MAX_EVENTS) throw malformed(WHAT, `it names more than ${MAX_EVENTS} payments`);
    const proof = Object(fields["proof"]) as Record<string, unknown>;
    const address = decodeShieldedAddress(shieldedAddress);
    return {
      chainId: parseChainId(fields["chainId"], WHAT),
      pool: parseAddress(fields["pool"], "pool"),
      wallet: parseAddress(fields["wallet"], "wallet"),
      shieldedAddress: shieldedAddress as string,
      address,
      auditor,
      fromBlock: parseBlock(fields["fromBlock"], "fromBlock", WHAT),
      toBlock: parseBlock(fields["toBlock"], "toBlock", WHAT),
      blockHash: parseHash(fields["blockHash"], "blockHash", WHAT),
      // Below 20,000 times 2^64, far below l, so the sum modulo l equals the sum.
      hiddenTotal: parseScalar(fields["hiddenTotal"], "hiddenTotal", BigInt(hidden.length) << 64n),
      hidden: hidden.map((entry) => ({
        leafIndex: parseBlock(entry["leafIndex"], "leafIndex", WHAT),
        senderCommitment: parseField(entry["senderCommitment"], "senderCommitment"),
        resource: parseField(entry["resource"], "resource"),
        root: parseField(entry["root"], "root"),
      })),
      shared: shared.map((entry) => ({
        leafIndex: parseBlock(entry["leafIndex"], "leafIndex", WHAT),
        point: unpackPoint(entry["shared"] as string, "shared"),
      })),
      proof: {
        challenge: parseScalar(proof["challenge"], "proof.challenge", SUBGROUP_ORDER),
        response: parseScalar(proof["response"], "proof.response", SUBGROUP_ORDER),
      },
    };
  });
}

function list(value: unknown, name: string): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value) || value.length > MAX_EVENTS)
    throw malformed(WHAT, `${name} is not a list of at most ${MAX_EVENTS} entries`);
  return value.map((entry) => Object(entry) as Record<string, unknown>);
}

/** A decimal from 0 to `limit` - 1, or 0 if the limit is 0. */
function parseScalar(value: unknown, name: string, limit: bigint): bigint {
  const number = typeof value === "string" && /^(0|[1-9][0-9]{0,77})$/.test(value) ? BigInt(value) : -1n;
  if (number < 0n || (number !== 0n && number >= limit))
    throw malformed(WHAT, `${name} is not a decimal integer in its range`);
  return number;
}

/** The proved relation: one vk with PK = vk Base8 and `product` = vk `base`. */
export interface Relation {
  readonly base: Point;
  readonly product: Point;
}

export type Claim = Omit<ParsedTotals, "proof">;

const word = (text: string): bigint => BigInt(keccak256(toUtf8Bytes(text)));

export function hashWords(words: readonly bigint[]): bigint {
  return BigInt(keccak256(AbiCoder.defaultAbiCoder().encode(["uint256[]"], [words])));
}

/** Hash of all claims of a statement and of all its events. Challenge and weights are derived from it. */
export function claimHash(claim: Claim, events: ReadonlyMap<number, SettledEvent>): bigint {
  const { chainId, pool, wallet, address, auditor, fromBlock, toBlock, blockHash, hiddenTotal, hidden, shared } = claim;
  const digest = (leafIndex: number) => BigInt(events.get(leafIndex)!.digest);
  const { encryptionKey, ownerTag } = address;
  return hashWords([
    word("sotto/v1/totals"),
    ...[chainId, BigInt(pool), BigInt(wallet), encryptionKey.x, encryptionKey.y, ownerTag, word(auditor)],
    ...[BigInt(fromBlock), BigInt(toBlock), BigInt(blockHash), hiddenTotal],
    BigInt(hidden.length),
    ...hidden.flatMap(({ leafIndex, senderCommitment, resource, root }) => [
      ...[BigInt(leafIndex), digest(leafIndex), senderCommitment, resource, root],
    ]),
    BigInt(shared.length),
    ...shared.flatMap(({ leafIndex, point }) => [BigInt(leafIndex), digest(leafIndex), point.x, point.y]),
  ]);
}

/**
 * The weighted sums of all relations of a claim. The weights depend on every point, so a claim with a false relation
 * satisfies the sum with probability 2^-128.
 * @param ciphers C of each hidden payment, in order
 */
export function relationOf(
  claim: Claim,
  hash: bigint,
  events: ReadonlyMap<number, SettledEvent>,
  ciphers: readonly Point[],
): Relation {
  const weight = (index: number): bigint => hashWords([word("sotto/v1/totals/weight"), hash, BigInt(index)]) >> 128n;
  const R = (leafIndex: number) => pointFromX(events.get(leafIndex)!.ephemeralX, "R");
  const sum = (points: readonly Point[]) => points.reduce(addPoints, IDENTITY);
  const total = negatePoint(multiplyPoint(BASE8, claim.hiddenTotal));
  const terms = [
    { base: sum(claim.hidden.map(({ leafIndex }) => R(leafIndex))), product: addPoints(sum(ciphers), total) },
    ...claim.shared.map(({ leafIndex, point }) => ({ base: R(leafIndex), product: point })),
  ];
  let [base, product] = [IDENTITY, IDENTITY];
  for (const [index, term] of terms.entries()) {
    base = addPoints(base, multiplyPoint(term.base, weight(index)));
    product = addPoints(product, multiplyPoint(term.product, weight(index)));
  }
  return { base, product };
}

/** Challenge of the Chaum-Pedersen proof, modulo l. */
export function challengeOf(hash: bigint, { base, product }: Relation, first: Point, second: Point): bigint {
  const points = [base, product, first, second].flatMap(({ x, y }) => [x, y]);
  return hashWords([word("sotto/v1/totals/challenge"), hash, ...points]) % SUBGROUP_ORDER;
}
