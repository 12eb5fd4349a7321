// The address that a payment was made to, as the request that shows the payment names it.
import { decodeHeader } from "../header-json.ts";
import type { RecipientExtra, Recipients } from "./recipient.ts";

/** The published server's view of a request. */
export interface Transport {
  readonly request?: { readonly adapter?: { getHeader?(name: string): string | undefined } };
}

const HEADER = "payment-signature";

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => Object(value) as Fields;

function shownBy(transport: Transport | undefined): Fields {
  const adapter = transport?.request?.adapter;
  const header = adapter?.getHeader?.(HEADER) ?? adapter?.getHeader?.(HEADER.toUpperCase());
  if (typeof header !== "string") return {};
  try {
    return fieldsOf(decodeHeader(header));
  } catch {
    return {};
  }
}

const isSame = (one: RecipientExtra, { recipient, schedule }: Fields): boolean =>
  one.recipient.shieldedAddress === fieldsOf(recipient)["shieldedAddress"] &&
  one.recipient.signature === fieldsOf(recipient)["signature"] &&
  one.schedule?.digest === fieldsOf(schedule)["digest"];

/**
 * The address for the requirements that a payment is compared with: the published server accepts a payment only for exactly
 * what it asks for now, but a payment may have been made to the address of the month that just ended, or of an earlier schedule.
 * @returns undefined if the request shows no payment, or one that does not count at its time
 */
export function shownAddress(transport: Transport | undefined, recipients: Recipients): RecipientExtra | undefined {
  const { accepted, payload } = shownBy(transport);
  const extra = fieldsOf(fieldsOf(accepted)["extra"]);
  const timestamp = fieldsOf(payload)["timestamp"] as number;
  return recipients.acceptedAt(timestamp).find((one) => isSame(one, extra));
}
