// What is left of a metered merchant's log and database without times and random values: two logs with the same structure say the
// same. Random values that occur again keep a name, so that a structure says where one is repeated.

import {
  decodePrepaidHeader,
  formatReceipt,
  PREPAID_CHANGE_PATH,
  PREPAID_HEADER,
  PREPAID_SWAP_PATH,
  parseReceipt,
} from "@sotto/prepaid";
import type { PaywallEvent } from "@sotto/resource-server";
import { Names } from "@sotto/test-kit/names";
import type { LoggedRequest } from "@sotto/test-world/seen";

/** Tables by name, as a merchant's server stores them. */
export type Tables = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

export interface Seen {
  /** In the order of their arrival. */
  readonly requests: readonly LoggedRequest[];
  readonly events: readonly PaywallEvent[];
  readonly tables: Tables;
}

/** Columns with times and random values. */
const RANDOM_COLUMNS: ReadonlySet<string> = new Set([
  // Payments of packs: another note and another proof each time.
  ...["id", "digest", "holder", "lease_until", "expires_at"].map((name) => `payments.payment_claim.${name}`),
  "prepaid.prepaid_pack.payment",
  // The id of the store, and how long its server ran.
  ...["store", "ticks"].map((name) => `prepaid.prepaid_progress.${name}`),
  "prepaid.prepaid_metered.deadline",
  // Hashes of blinded messages.
  "prepaid.prepaid_metered.batch",
  "prepaid.prepaid_swap.hash",
  ...["payments.paywall", "prepaid.prepaid"].map((name) => `${name}_migration.timestamp`),
]);

export function structureOf({ requests, events, tables }: Seen) {
  const names = new Names();
  const tokenOf = (header: string) => {
    const { nonce, signature, ...rest } = decodePrepaidHeader(header);
    return { ...rest, nonce: names.of(nonce), signature: names.of(Buffer.from(signature).toString("hex")) };
  };
  const fieldOf = ([name, value]: [string, unknown]) => {
    if (name === "tokens") return [name, (value as string[]).map(tokenOf)];
    return [name, ["nonce", "publicKey", "signature", "batch"].includes(name) ? names.of(String(value)) : value];
  };
  const bodyOf = ({ target, body }: LoggedRequest) => {
    const text = Buffer.concat(body).toString("utf8");
    if (target !== PREPAID_CHANGE_PATH && target !== PREPAID_SWAP_PATH) return text;
    // As a list: the order of the fields counts.
    return [text.length, ...Object.entries(JSON.parse(text)).map(fieldOf)];
  };
  const isToken = (name: string | undefined) => name?.toLowerCase() === PREPAID_HEADER.toLowerCase();
  const structured = {
    requests: requests.map((request) => ({
      method: request.method,
      target: request.target,
      status: request.status,
      headers: request.headers.map((text, i) =>
        i % 2 === 1 && isToken(request.headers[i - 1]) ? tokenOf(text) : text,
      ),
      body: bodyOf(request),
    })),
    events: eventsByRequest(events),
  };
  const cellOf = (column: string, value: unknown): unknown => {
    if (RANDOM_COLUMNS.has(column)) return value === null ? null : "random";
    if (/_(?:token|metered)\.nonce$/.test(column))
      return names.of(`0x${Buffer.from(String(value), "base64url").toString("hex")}`);
    // The order of a spend among all of the server.
    if (column.endsWith(".holder"))
      return String(value)
        .replace(/^swap:.*/, "swap")
        .replace(/^[^.]*\./, "");
    if (column.endsWith("_metered.receipt") && value !== null) return receiptOf(String(value));
    if (value instanceof Uint8Array) return `${value.length} bytes`;
    return value;
  };
  const rowOf = (table: string, row: Readonly<Record<string, unknown>>) =>
    JSON.stringify(Object.entries(row).map(([name, value]) => [name, cellOf(`${table}.${name}`, value)]));
  const sorted = Object.entries(tables).map(([table, rows]) => [table, rows.map((row) => rowOf(table, row)).sort()]);
  return { ...structured, tables: Object.fromEntries(sorted) as Record<string, string[]> };
}

/** A receipt without the hash of its token and its signature. */
function receiptOf(text: string): string {
  const { receipt } = parseReceipt(text);
  return formatReceipt({ receipt: { ...receipt, token: `0x${"00".repeat(32)}` }, signature: `0x${"00".repeat(64)}` });
}

/** The events of each request without their times, in any order: charges are stored while the response leaves. */
function eventsByRequest(events: readonly PaywallEvent[]): string[][] {
  const groups: string[][] = [];
  for (const { ms: _, ...event } of events as readonly (PaywallEvent & { readonly ms?: number })[]) {
    if (groups.length === 0 || event.event === "challenged") groups.push([]);
    groups.at(-1)!.push(JSON.stringify(event, (_name, value) => (typeof value === "bigint" ? String(value) : value)));
  }
  return groups.map((group) => group.sort());
}
