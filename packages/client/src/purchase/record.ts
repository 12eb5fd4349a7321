import type { WireBundle } from "@sotto/protocol";
import type { AttachmentRecord } from "./attachment.ts";
import type { Reservation } from "./limits.ts";

/** The resource, its recipient and the service. Numbers that may exceed 2^53 are decimal strings. */
export interface PurchaseTerms {
  recipient: { wallet: string; shieldedAddress: string };
  /** Base units. */
  price: string;
  resourceUrl: string;
  /** Base URL of the service. */
  service: string;
}

/** An attempt whose proof may have left the process. Only such an attempt can settle. */
export interface SentAttempt {
  /** Id of its payment in the wallet. */
  payment: string;
  /** keccak256 of its public signals. */
  digest: string;
  bundle: WireBundle;
  token: string;
}

/** Why a paid purchase waits for the user's decision. */
export interface Problem {
  code: "PAID_BUT_STALE" | "PAID_BUT_REFUSED";
  message: string;
  /** The server's own reason; "" if it gave none. */
  reason: string;
  /** The server's HTTP status; 0 if there was none. */
  status: number;
}

/** How the proof of a purchase is presented, if not as x402-zk does. */
export interface Envelope {
  /** Name of the method that wraps the proof. */
  method: string;
  /** Name of the request header that takes it. */
  header: string;
  /** What the method needs to wrap the proof, as it wrote it. */
  kept: string;
}

/** A purchase in the wallet's store, written before each step is taken. */
export interface PurchaseRecord extends PurchaseTerms {
  /** Hash of its key, 32 hex digits. Also the id of its first payment in the wallet. */
  id: string;
  /** Fingerprint of the request, used to find the purchase of an equal request. */
  request: string;
  /** Milliseconds. */
  created: number;
  /** Its recipient's address is paid only before this time, ms: it is that of a month. Absent for a lasting address. */
  before?: number | undefined;
  /** What its price counts against; null without limits. */
  reserved: Reservation | null;
  /** Its payments, by id in the wallet. The last one counts; there are several only if earlier ones failed. */
  payments: string[];
  sent: SentAttempt[];
  /** The attempt that settled on chain. */
  settled: { digest: string; txSignature: string } | null;
  /** Maximum characters of the proof header for this server. Default: the interface's limit. */
  headerLimit?: number | undefined;
  /** Absent if the proof is presented as x402-zk does. */
  envelope?: Envelope | undefined;
  /** What the 402 asks to be shown beside the payment. Absent if it asks for nothing that the client can show. */
  attachments?: readonly AttachmentRecord[] | undefined;
  /** How many times its proof was sent to the server. */
  shown: number;
  problem: Problem | null;
}

/** A finished purchase, kept so that its key is never paid again. */
export interface FinishedRecord extends PurchaseTerms {
  id: string;
  created: number;
  payments: string[];
  settled: { digest: string; txSignature: string };
}

/** Before there were limits per hour, a record had only the day on which its price counts. */
interface EarlierReservation {
  readonly day: string;
  readonly host: string;
}

/** Reads a record of the store, also one of an earlier version. */
export function readRecord(value: unknown): PurchaseRecord {
  const record = value as PurchaseRecord;
  const reserved = record.reserved as Reservation | EarlierReservation | null;
  if (reserved === null || !("day" in reserved)) return record;
  const { day, host } = reserved;
  const hour = `${day}${new Date(record.created).toISOString().slice(10, 13)}`;
  return { ...record, reserved: { hour, host, tool: null } };
}
