import { record as audit } from "../audit/audit.ts";
import { CODE_LIFETIME_MS, CODE_TRIES, dropCode, randomCode, storeCode } from "../codes/codes.ts";
import { RegistryError } from "../errors.ts";
import { take } from "../quotas/quotas.ts";
import type { LinkRecord } from "../store/link-record.ts";
import { consume, wasUsed } from "../store/once.ts";
import type { Found } from "../store/records.ts";
import type { Db } from "../store/schema.ts";
import { type Context, changeOf, DIGEST_MEMORY_MS, isEnded, LINK_LIFETIME_SECONDS, mappingOf } from "./context.ts";
import { codeUses, tryUses } from "./limits.ts";
import { assertFields } from "./requests.ts";
import type { LinkRequest, LinkResult } from "./types.ts";

interface Code {
  readonly id: string;
  readonly code: string;
  readonly hash: string;
  readonly expiresAt: number;
}

type Stored =
  | { readonly kind: "renewed"; readonly result: LinkResult }
  | { readonly kind: "waiting"; readonly code: Code };

const outdated = () =>
  new RegistryError("LINK_OUTDATED", "a link that was signed later exists; sign again with the current time");

/** The time until which a digest is remembered, ms: at least as long as its issuedAt is accepted. */
export const rememberUntil = (issuedAt: number, now: number): number =>
  Math.max(now, issuedAt * 1000) + DIGEST_MEMORY_MS;

export async function link(context: Context, request: LinkRequest): Promise<LinkResult> {
  assertFields(request, "phone", "wallet", "key", "signature", "issuedAt", "client");
  const { database, options, clock, records } = context;
  const { issuedAt, digest } = await options.signatures.link(request, clock());
  const { phone, wallet, key, signature } = request;
  const { pool, service } = options;
  const record: LinkRecord = {
    phone,
    wallet,
    key,
    signature,
    pool,
    service,
    issuedAt,
    digest,
    chainId: String(options.chainId),
    provenIssuedAt: issuedAt,
    expiresAt: issuedAt + LINK_LIFETIME_SECONDS,
  };
  const stored = await database.transaction(records.locks(phone), (db) => store(context, db, request, record));
  if (stored.kind === "renewed") return stored.result;
  return send(context, record, stored.code);
}

/** Stores the link, in a transaction that holds the number's lock. */
async function store(context: Context, db: Db, request: LinkRequest, record: LinkRecord): Promise<Stored> {
  const { ring, records, limits, clock } = context;
  const { phone, wallet, client } = request;
  const now = clock();
  const verified = await records.verified(db, phone);
  const waiting = await records.waiting(db, phone, wallet);
  if ((await wasUsed(db, ring, "link", [record.digest])) || verified?.record.digest === record.digest)
    throw new RegistryError("SIGNATURE_REPLAYED", "this signature was used before; sign again");
  const current = verified !== undefined && !isEnded(verified.record, now) ? verified : undefined;
  if (current?.record.wallet === wallet && (await mayRenew(context, db, record, current, waiting)))
    return renew(context, db, request, record, current, waiting);
  // Only an unverified link of the same wallet matters. Those of other wallets are neither revealed nor changed.
  if (waiting !== undefined && waiting.record.issuedAt > record.issuedAt) throw outdated();
  await takeCode(context, db, request, current?.record.wallet === wallet);
  const id = await records.put(db, record, false, now + limits.pendingSeconds * 1000, waiting);
  const expiresAt = now + CODE_LIFETIME_MS;
  const code = randomCode();
  const hash = await storeCode(db, ring, { id, phone, wallet }, code, expiresAt);
  await audit(db, ring, { action: "link", outcome: "ok", phone, wallet, client }, now);
  return { kind: "waiting", code: { id, code, hash, expiresAt } };
}

/** Counts a code. For other wallets, it counts the same whether or not the number is linked. */
async function takeCode(context: Context, db: Db, request: LinkRequest, isLinked: boolean): Promise<void> {
  const { ring, limits, options, clock } = context;
  try {
    const shares = await take(db, ring, codeUses(limits, request, isLinked), clock(), "CODES_LIMITED");
    options.metrics?.quotaUse("codes", shares.get("code-total") ?? 0);
  } catch (error) {
    if (error instanceof RegistryError && error.details["scope"] === "total") options.metrics?.quotaUse("codes", 1);
    throw error;
  }
}

/**
 * Phone numbers change owners. So the linked wallet must prove its number again if its last proof has reached a link's
 * maximum age, or if another wallet's link is waiting to be verified. Otherwise the former owner could block the new
 * one forever by signing later dates. A date in the future requires a new proof too.
 */
async function mayRenew(
  { records, clock }: Context,
  db: Db,
  { phone, issuedAt }: LinkRecord,
  current: Found,
  waiting: Found | undefined,
): Promise<boolean> {
  const now = clock();
  const proofEnds = (current.record.provenIssuedAt + LINK_LIFETIME_SECONDS) * 1000;
  const others = await records.waitingIds(db, phone, now);
  return proofEnds > now && issuedAt * 1000 <= now && others.every((id) => id === waiting?.row.id);
}

/** Replaces a link with a newer one of the same wallet (another key, a later expiry), without a new code. */
async function renew(
  context: Context,
  db: Db,
  { phone, wallet, client }: LinkRequest,
  record: LinkRecord,
  current: Found,
  waiting: Found | undefined,
): Promise<Stored> {
  const { ring, records, limits, clock } = context;
  if (record.issuedAt < current.record.issuedAt) throw outdated();
  await take(db, ring, tryUses(limits, client), clock(), "CODES_LIMITED");
  await consume(db, ring, "link", [record.digest], rememberUntil(record.issuedAt, clock()));
  const { provenIssuedAt } = current.record;
  await records.put(db, { ...record, provenIssuedAt }, true, record.expiresAt * 1000, current);
  await records.remove(db, waiting === undefined ? [] : [waiting.row.id]);
  await audit(db, ring, { action: "relink", outcome: "ok", phone, wallet, client }, clock());
  const changed = changeOf(current.record, record);
  return { kind: "renewed", result: { mapping: mappingOf(record, true), remaining: [], changed } };
}

/** Sends the stored code. After a crash here nobody knows the code, and the next request makes another one. */
async function send({ database, options }: Context, record: LinkRecord, code: Code): Promise<LinkResult> {
  const mapping = mappingOf(record, false);
  const { expiresAt } = code;
  const { phone, wallet } = mapping.binding;
  try {
    await options.sender.send({ phone, wallet, code: code.code, expiresAt });
  } catch {
    // The error may contain the number or the code, so it is not logged.
    options.log?.warn({}, "a code could not be sent");
    await dropCode(database.db, code.id, code.hash);
    return { mapping, remaining: [{ step: "ask-again" }] };
  }
  return { mapping, remaining: [{ step: "enter-code", expiresAt, tries: CODE_TRIES }] };
}
