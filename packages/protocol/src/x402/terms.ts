// The terms of a sotto payment, as x402's PaymentRequirements carry them; docs/x402.md specifies them.

import { describe } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { MAX_URL_LENGTH } from "../object-fields.ts";
import { parseScheduleReference, type ScheduleReference } from "../schedule/reference.ts";
import { decodeShieldedAddress, type ShieldedAddress } from "../shielded-address.ts";
import { assertInteger, assertText, parseAmount } from "../validate.ts";
import { type Offers, parseOffers } from "../wire/offers.ts";
import { reading, refuse } from "./errors.ts";

/** Name of the scheme. */
export const X402_SCHEME = "sotto";
/** The version of x402 that the scheme supports. */
export const X402_VERSION = 2;

/** Fields of `extra` that may differ between the challenges of one offer. No payment depends on `attachments`. */
export const X402_DYNAMIC_EXTRA = ["challenge", "attachments"] as const;

/** Maximum length of the wallet's signature, bytes; those of contract wallets are the longest. */
const MAX_SIGNATURE_BYTES = 2048;
/** Maximum length of a phone number, a challenge or the name of a set, characters. */
const MAX_NAME_LENGTH = 128;
/** Upper limit of times and durations, seconds. */
const MAX_SECONDS = 100_000_000_000;

/** The recipient's shielded address, and the binding with which the wallet `payTo` signed it. */
export interface X402Recipient {
  /** 64 bytes as hex with 0x. */
  readonly shieldedAddress: string;
  /** The wallet's signature of its binding to the shielded address, 1 to 2,048 bytes, lower-case hex with 0x. */
  readonly signature: string;
  /** issuedAt of the binding, Unix seconds. */
  readonly issuedAt: number;
  /** Base URL of the binding's registry, or "". */
  readonly service: string;
  /** The binding's phone number in E.164, or "". */
  readonly phone: string;
}

/** `extra` of the requirements. */
export interface X402Extra {
  readonly pool: string;
  /** Decimals of the asset, for display. */
  readonly decimals: number;
  /** The resource that is paid for. The proof is bound to this URL, which is compared byte for byte. */
  readonly resource: string;
  /** Base URL of the service that verifies and settles. */
  readonly service: string;
  /** The recipient's shielded address with the wallet's signature. */
  readonly recipient: X402Recipient;
  /** The schedule that lists the recipient's address; absent if the address is not one of a month. */
  readonly schedule?: ScheduleReference | undefined;
  /** Id of the set of keys with which the service verifies. */
  readonly artifactSet?: string | undefined;
  /** Id of this challenge. A client that receives the same challenge twice pays once. */
  readonly challenge?: string | undefined;
  /** What the server asks payers to show beside the payment, by name: JSON as `parseOffers` accepts it. */
  readonly attachments?: Readonly<Record<string, unknown>> | undefined;
}

/** PaymentRequirements of this scheme. */
export interface X402Requirements {
  /** "sotto". */
  readonly scheme: string;
  /** CAIP-2, eip155:CHAIN. */
  readonly network: string;
  readonly asset: string;
  /** Base units, decimal. */
  readonly amount: string;
  /** Wallet of the recipient. */
  readonly payTo: string;
  /** Maximum age of a payment when it is verified, seconds, at least 1; more than 300 counts as 300. */
  readonly maxTimeoutSeconds: number;
  /** An `X402Extra`, once `parseX402Terms` has parsed it. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** The requirements, parsed. */
export interface X402Terms {
  /** EIP-155 id, from `network`. */
  readonly chainId: bigint;
  /** The ShieldedPool, from `extra`. */
  readonly pool: Address;
  /** The pool's token. */
  readonly asset: Address;
  /** Decimals of the token, 0 to 77, for display. */
  readonly decimals: number;
  /** Base units, at least 1. */
  readonly amount: bigint;
  /** The recipient's wallet: `payTo`. */
  readonly wallet: Address;
  /** The shielded address with the wallet's signature, which is not checked yet. */
  readonly recipient: X402Recipient;
  /** The recipient's shielded address, decoded. */
  readonly address: ShieldedAddress;
  /** The schedule that lists the address; undefined if the address is not one of a month. */
  readonly schedule: ScheduleReference | undefined;
  /** The URL that is paid for, 1 to 2,048 characters, compared byte for byte. */
  readonly resource: string;
  /** Base URL of the service that verifies and settles, at most 2,048 characters. */
  readonly service: string;
  /** Maximum age of a payment when it is verified, seconds, at least 1; more than 300 counts as 300. */
  readonly maxTimeoutSeconds: number;
  /** Id of the set of keys with which the service verifies; undefined if the server does not name it. */
  readonly artifactSet: string | undefined;
  /** Id of this challenge, at most 128 characters; undefined if the server does not name one. */
  readonly challenge: string | undefined;
  /** What the server asks payers to show beside the payment, by name; nobody has checked the values. */
  readonly attachments: Offers;
}

/** The name of a chain in x402, as defined by CAIP-2. */
export const x402Network = (chainId: bigint): `eip155:${bigint}` => `eip155:${chainId}`;

/** Reads the chain id from the name of a network. @throws SottoError X402_NETWORK_UNSUPPORTED */
export function parseX402Network(network: unknown): bigint {
  const id = typeof network === "string" ? /^eip155:(0|[1-9][0-9]{0,31})$/.exec(network)?.[1] : undefined;
  if (id === undefined) refuse("X402_NETWORK_UNSUPPORTED", `network must be eip155:CHAIN, got ${describe(network)}`);
  return BigInt(id);
}

/**
 * Parses payment requirements strictly. Ignores unknown fields.
 * @throws SottoError X402_SCHEME_UNSUPPORTED, X402_NETWORK_UNSUPPORTED, X402_REQUIREMENTS_INVALID
 */
export function parseX402Terms(requirements: unknown): X402Terms {
  const fields = record(requirements, "the payment requirements");
  if (fields["scheme"] !== X402_SCHEME)
    refuse("X402_SCHEME_UNSUPPORTED", `scheme must be "${X402_SCHEME}", got ${describe(fields["scheme"])}`);
  const chainId = parseX402Network(fields["network"]);
  return reading("X402_REQUIREMENTS_INVALID", () => read(chainId, fields));
}

type Fields = Readonly<Record<string, unknown>>;

function read(chainId: bigint, fields: Fields): X402Terms {
  const extra = record(fields["extra"], "extra");
  const recipient = parseRecipient(record(extra["recipient"], "extra.recipient"));
  const amount = parseAmount(fields["amount"]);
  const schedule = extra["schedule"] ?? undefined;
  if (amount === 0n) refuse("X402_REQUIREMENTS_INVALID", "amount is 0, expected 1 base unit or more");
  return {
    chainId,
    pool: parseAddress(extra["pool"], "extra.pool"),
    asset: parseAddress(fields["asset"], "asset"),
    decimals: assertInteger(extra["decimals"], 0, 77, "extra.decimals"),
    amount,
    wallet: parseAddress(fields["payTo"], "payTo"),
    recipient,
    address: decodeShieldedAddress(recipient.shieldedAddress),
    schedule: schedule === undefined ? undefined : parseScheduleReference(schedule, "extra.schedule"),
    resource: text(extra["resource"], "extra.resource", MAX_URL_LENGTH),
    service: text(extra["service"], "extra.service", MAX_URL_LENGTH),
    maxTimeoutSeconds: assertInteger(fields["maxTimeoutSeconds"], 1, MAX_SECONDS, "maxTimeoutSeconds"),
    artifactSet: optional(extra["artifactSet"], "extra.artifactSet"),
    challenge: optional(extra["challenge"], "extra.challenge"),
    attachments: parseOffers({ payment: record(extra["attachments"] ?? {}, "extra.attachments") }),
  };
}

function parseRecipient(fields: Fields): X402Recipient {
  const { shieldedAddress, signature, issuedAt, service = "", phone = "" } = fields;
  const hex = typeof signature === "string" && signature.length <= 2 + 2 * MAX_SIGNATURE_BYTES;
  if (!hex || !/^0x(?:[0-9a-f]{2})+$/.test(signature)) {
    const expected = `1 to ${MAX_SIGNATURE_BYTES} bytes as lower-case hex with 0x`;
    const message = `extra.recipient.signature must be ${expected}, got ${describe(signature)}`;
    refuse("X402_REQUIREMENTS_INVALID", message);
  }
  return {
    shieldedAddress: shieldedAddress as string,
    signature,
    issuedAt: assertInteger(issuedAt, 0, MAX_SECONDS, "extra.recipient.issuedAt"),
    service: service === "" ? "" : text(service, "extra.recipient.service", MAX_URL_LENGTH),
    phone: phone === "" ? "" : text(phone, "extra.recipient.phone", MAX_NAME_LENGTH),
  };
}

function record(value: unknown, name: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    refuse("X402_REQUIREMENTS_INVALID", `${name} must be an object, got ${describe(value)}`);
  return value as Fields;
}

function text(value: unknown, name: string, maxLength: number): string {
  const found = assertText(value, name);
  if (found.length > maxLength) {
    const message = `${name} must have at most ${maxLength} characters, got ${found.length}`;
    refuse("X402_REQUIREMENTS_INVALID", message);
  }
  return found;
}

const optional = (value: unknown, name: string): string | undefined =>
  value === undefined || value === null ? undefined : text(value, name, MAX_NAME_LENGTH);
