import {
  amountBounds,
  assertAmount,
  decodeShieldedAddress,
  MAX_URL_LENGTH,
  parseAddress,
  type ShieldedAddress,
} from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { parseCount } from "./connect.ts";

/** The recipient: its wallet address, and the shielded address that the wallet signed. */
export interface PaymentRecipient {
  /** Address of the wallet, 20 bytes as hex with 0x. */
  wallet: string;
  /** Keys that read and spend the payment, 64 bytes as hex with 0x. */
  shieldedAddress: string;
}

/** A payment to make: its recipient, amount and resource. */
export interface PaymentRequest {
  /** Receives the payment. The caller has checked its signature. */
  recipient: PaymentRecipient;
  /** Base units, at least 1. */
  amount: bigint;
  /** The resource. The proof binds it, and the recipient's server compares it byte for byte. */
  resourceUrl: string;
  /** Bounds of the amount proof. Default: `amount` to 1.1 times `amount`, the bounds for a price of `amount`. */
  lowerBound?: bigint | undefined;
  /** See `lowerBound`. */
  upperBound?: bigint | undefined;
  /**
   * Base URL of the service that gets the proof. If possible, a note that this service has seen is not shown to other
   * services.
   */
  service?: string | undefined;
  /**
   * Id of the payment, 32 hex digits never used before. Default: random. Set it to record the id elsewhere before the
   * payment begins.
   */
  id?: string | undefined;
  /** Leaf index of the note to pay from. Default: the smallest sufficient one. */
  note?: number | undefined;
  /**
   * The recipient's address is paid only before this time, milliseconds since the Unix epoch: the address of a month ends. Default:
   * at any time.
   */
  before?: number | undefined;
}

const ID = /^[0-9a-f]{32}$/;

/** The checked terms of a payment, without its resource. */
export interface CheckedTerms extends Pick<PaymentRequest, "recipient" | "amount"> {
  service: string | null;
  address: ShieldedAddress;
  lowerBound: bigint;
  upperBound: bigint;
  before: number | undefined;
}

/** A payment whose terms and resource were checked. */
export interface CheckedPayment extends CheckedTerms {
  resourceUrl: string;
}

/**
 * Checks everything that a caller asks of a payment, without a look at the notes.
 * @throws WalletError INVALID_OPTION; SottoError INVALID_AMOUNT, INVALID_ADDRESS, INVALID_SHIELDED_ADDRESS
 */
export function parsePaymentRequest(request: PaymentRequest): CheckedPayment {
  const { resourceUrl } = Object(request) as PaymentRequest;
  const terms = parsePaymentTerms(request);
  if (typeof resourceUrl !== "string" || resourceUrl === "" || resourceUrl.length > MAX_URL_LENGTH)
    throw new WalletError("INVALID_OPTION", `resourceUrl must be a string of 1 to ${MAX_URL_LENGTH} characters`);
  if (request.id !== undefined && (typeof request.id !== "string" || !ID.test(request.id)))
    throw new WalletError("INVALID_OPTION", "id must be 32 lower-case hex digits");
  return { ...terms, resourceUrl };
}

/**
 * Checks the terms of a payment, without its resource.
 * @throws WalletError INVALID_OPTION; SottoError INVALID_AMOUNT, INVALID_ADDRESS, INVALID_SHIELDED_ADDRESS
 */
export function parsePaymentTerms(request: Omit<PaymentRequest, "resourceUrl" | "id">): CheckedTerms {
  const { recipient } = Object(request) as PaymentRequest;
  if (typeof recipient !== "object" || recipient === null)
    throw new WalletError("INVALID_OPTION", "recipient must be an object with wallet and shieldedAddress");
  const wallet = parseAddress(recipient.wallet, "recipient.wallet");
  const address = decodeShieldedAddress(recipient.shieldedAddress);
  const amount = assertAmount(request.amount);
  if (amount === 0n) throw new WalletError("INVALID_OPTION", "amount is 0, expected 1 base unit or more");
  const lowerBound = assertAmount(request.lowerBound ?? amount, "lowerBound");
  const upperBound = assertAmount(request.upperBound ?? amountBounds(amount).upperBound, "upperBound");
  if (amount < lowerBound || amount > upperBound)
    throw new WalletError("INVALID_OPTION", `amount is ${amount}, but its bounds are ${lowerBound} to ${upperBound}`);
  if (request.note !== undefined) parseCount(request.note, "note", 0);
  const before = request.before === undefined ? undefined : parseCount(request.before, "before", 0);
  const { service = null } = request;
  if (service !== null && typeof service !== "string")
    throw new WalletError("INVALID_OPTION", "service must be the base URL of a service");
  const { shieldedAddress } = recipient;
  return { recipient: { wallet, shieldedAddress }, service, address, amount, lowerBound, upperBound, before };
}

/** @param now ms @throws WalletError ADDRESS_ENDED if the recipient's address may no longer be paid */
export function assertPayable({ before }: Pick<CheckedTerms, "before">, now: number): void {
  if (before === undefined || now < before) return;
  throw new WalletError(
    "ADDRESS_ENDED",
    `the recipient's address could be paid until ${new Date(before).toISOString()}, so nothing was paid; ask the recipient for its present address`,
    { before },
  );
}
