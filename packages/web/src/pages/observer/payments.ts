// The payments that the page lists: those on the chain, and those of this wallet that are not on it yet.
import type { SettledEvent } from "@sotto/chain";
import { decodeBundle, type PaymentStatement, parseStatement } from "@sotto/protocol";
import { type HistoryEntry, NO_MONTH, type ServiceRequest } from "../../engine/api.ts";
import type { Crowd, FeedTransaction } from "../../engine/pool-feed-api.ts";

export interface ChainPayment {
  readonly event: SettledEvent;
  readonly crowd: Crowd;
  readonly transaction: FeedTransaction;
  /** Its index among the payments of its transaction, from 0, and their number. */
  readonly place: number;
  readonly batch: number;
}

export interface SeenPayment {
  readonly id: string;
  /** This wallet's record of it; undefined if this wallet did not make the payment or is not open. */
  readonly own: HistoryEntry | undefined;
  /** Undefined until the payment is in a block. */
  readonly chain: ChainPayment | undefined;
}

/** The payments of a transaction, in its order. */
export function chainPayments(transaction: FeedTransaction): ChainPayment[] {
  const found = transaction.events.flatMap(({ event, crowd }) =>
    event.type === "settled" && crowd !== undefined ? [{ event, crowd }] : [],
  );
  return found.map(({ event, crowd }, place) => ({ event, crowd, transaction, place, batch: found.length }));
}

/** A payment that this page is making. The wallet's history lists it only once it is complete. */
export type Draft = Pick<HistoryEntry, "amount" | "at" | "counterparty" | "resource">;

const NEW = { id: "new", kind: "payment", state: "open", transaction: "", block: undefined, ...NO_MONTH } as const;

/** Adds the payment that is being made to the history, unless the history has it. */
export function withDraft(
  history: readonly HistoryEntry[],
  draft: Draft | undefined,
  requests: readonly ServiceRequest[],
): readonly HistoryEntry[] {
  if (draft === undefined) return history;
  const { at, resource } = draft;
  if (history.some((entry) => entry.kind === "payment" && entry.resource === resource && entry.at >= at))
    return history;
  // Once its proof has been sent, the digest identifies its event.
  const digest = sentFor({ id: NEW.id, own: { ...NEW, ...draft, digest: undefined }, chain: undefined }, requests);
  return [{ ...NEW, ...draft, digest: digest?.statement.digest }, ...history];
}

/** Newest first; payments that are not on the chain yet come first. @param transactions newest first */
export function seenPayments(
  transactions: readonly FeedTransaction[],
  history: readonly HistoryEntry[],
): SeenPayment[] {
  const own = history.filter(({ kind }) => kind === "payment");
  const byDigest = new Map(own.map((entry) => [entry.digest, entry] as const));
  const settled = transactions.flatMap((transaction) => chainPayments(transaction).reverse());
  const onChain = new Set(settled.map(({ event }) => event.digest));
  const waiting = own.filter(({ state, digest }) => state === "open" && (digest === undefined || !onChain.has(digest)));
  return [
    ...waiting.map((entry) => ({ id: entry.id, own: entry, chain: undefined })),
    ...settled.map((chain) => {
      const entry = byDigest.get(chain.event.digest);
      return { id: entry?.id ?? chain.event.digest, own: entry, chain };
    }),
  ];
}

/** The requests that this browser sent to the service for one payment. */
export interface Sent {
  readonly statement: PaymentStatement;
  /** The body of the request, as sent. */
  readonly body: string;
  /** When it was verified, and when its settlement was requested; milliseconds. */
  readonly verified: number;
  readonly settled: number | undefined;
}

/** Cached by body: decoding a bundle takes milliseconds, and every response of the engine has new objects. */
const parsed = new Map<string, PaymentStatement | undefined>();
const MAX_PARSED = 200;

function statementOf({ path, body }: ServiceRequest): PaymentStatement | undefined {
  if (!path.endsWith("/verify")) return undefined;
  if (!parsed.has(body)) {
    if (parsed.size >= MAX_PARSED) parsed.clear();
    parsed.set(body, parseBody(body));
  }
  return parsed.get(body);
}

/** @returns undefined if the body is not a bundle, or was truncated at the recorder's limit */
function parseBody(body: string): PaymentStatement | undefined {
  try {
    return parseStatement(decodeBundle(JSON.parse(body)));
  } catch {
    return undefined;
  }
}

/** The newest bundle of a payment among the recorded requests; undefined if none is recorded. */
export function sentFor({ own, chain }: SeenPayment, requests: readonly ServiceRequest[]): Sent | undefined {
  for (const [i, request] of [...requests.entries()].reverse()) {
    const statement = statementOf(request);
    if (statement === undefined) continue;
    const { bundle, digest } = statement;
    const same =
      chain !== undefined
        ? chain.event.digest === digest
        : own !== undefined && own.resource === bundle.resourceUrl && own.at <= request.at;
    if (!same) continue;
    const settle = requests
      .slice(i)
      .find(({ path, body }) => path.endsWith("/settle") && body.includes(nullifierOf(statement)));
    return { statement, body: request.body, verified: request.at, settled: settle?.at };
  }
  return undefined;
}

const nullifierOf = ({ signals }: PaymentStatement): string => `"${signals.nullifier}"`;
