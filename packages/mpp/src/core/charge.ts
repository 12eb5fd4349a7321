// The request of a challenge of this method: the terms of a private payment.
import {
  type Address,
  assertBinding,
  MAX_URL_LENGTH,
  normalizeSignature,
  parseAddress,
  parseScheduleReference,
  type ScheduleReference,
  type ShieldedAddressBinding,
} from "@sotto/protocol";
import { assertInteger, assertText, describe, parseAmount, parseHttpUrl } from "@sotto/protocol/extend";
import { reading, refuse } from "./errors.ts";
import { canonicalJson, decodeText, encodeJson, fieldOf, parseJson, recordOf } from "./json.ts";

const CODE = "MPP_REQUEST_INVALID";

/** The terms of a payment. */
export interface MppCharge {
  /** Base units, at least 1. */
  readonly amount: bigint;
  /** The pool's token. */
  readonly asset: Address;
  /** Decimals of the token, 0 to 18, for display. */
  readonly decimals: number;
  /** Chain, pool, and the recipient's wallet with its shielded address. */
  readonly binding: ShieldedAddressBinding;
  /** The wallet's signature of the binding, which is not checked yet; lower-case hex with 0x. */
  readonly signature: string;
  /** The schedule that lists the address; absent if the address is not one of a month. */
  readonly schedule?: ScheduleReference | undefined;
  /** Base URL of the service that verifies and settles. */
  readonly service: string;
  /** The URL that is paid for, compared byte for byte; undefined if it is that of the request, and too long to repeat. */
  readonly resource: string | undefined;
}

/** Checked terms as a challenge's parameter `request`. */
export function encodeCharge(charge: MppCharge): string {
  const { amount, asset, decimals, binding, signature, schedule, service, resource } = charge;
  const { chainId, pool, wallet, key, issuedAt, phone, service: registry } = binding;
  const json = {
    amount: String(amount),
    currency: asset,
    recipient: wallet,
    methodDetails: {
      chainId: Number(chainId),
      pool,
      decimals,
      service,
      resource,
      schedule,
      recipient: {
        shieldedAddress: key,
        signature,
        issuedAt,
        service: registry === "" ? undefined : registry,
        phone: phone === "" ? undefined : phone,
      },
    },
  };
  return encodeJson(json, canonicalJson);
}

/**
 * Parses a challenge's parameter `request` strictly: canonical JSON, and every field in its range. Ignores unknown fields.
 * @throws MppError MPP_REQUEST_INVALID
 */
export function parseCharge(request: string): MppCharge {
  const written = decodeText(request, "the request", CODE);
  const json = parseJson(written, "the request", CODE);
  if (written !== canonicalJson(json)) refuse(CODE, "the request is not canonical JSON (RFC 8785)");
  const details = recordOf(fieldOf(json, "methodDetails"), "methodDetails", CODE);
  const recipient = recordOf(fieldOf(details, "recipient"), "methodDetails.recipient", CODE);
  return reading(CODE, () => {
    const amount = parseAmount(fieldOf(json, "amount"));
    if (amount === 0n) refuse(CODE, "amount is 0, expected 1 base unit or more");
    const chainId = assertInteger(fieldOf(details, "chainId"), 1, Number.MAX_SAFE_INTEGER, "methodDetails.chainId");
    const binding = assertBinding({
      phone: optional(fieldOf(recipient, "phone")),
      wallet: parseAddress(fieldOf(json, "recipient"), "recipient"),
      key: text(fieldOf(recipient, "shieldedAddress"), "methodDetails.recipient.shieldedAddress"),
      chainId: BigInt(chainId),
      pool: parseAddress(fieldOf(details, "pool"), "methodDetails.pool"),
      service: optional(fieldOf(recipient, "service")),
      issuedAt: assertInteger(fieldOf(recipient, "issuedAt"), 0, Number.MAX_SAFE_INTEGER, "issuedAt"),
    });
    const resource = fieldOf(details, "resource");
    const schedule = fieldOf(details, "schedule");
    return {
      amount,
      asset: parseAddress(fieldOf(json, "currency"), "currency"),
      decimals: assertInteger(fieldOf(details, "decimals"), 0, 18, "methodDetails.decimals"),
      binding,
      signature: normalizeSignature(fieldOf(recipient, "signature")),
      ...(schedule === undefined ? {} : { schedule: parseScheduleReference(schedule, "methodDetails.schedule") }),
      service: parseHttpUrl(fieldOf(details, "service"), "methodDetails.service"),
      resource: resource === undefined ? undefined : url(resource),
    };
  });
}

/** Absent is the same as empty. */
const optional = (value: unknown): string =>
  value === undefined ? "" : text(value, "a field of methodDetails.recipient");

function text(value: unknown, name: string): string {
  if (typeof value !== "string") refuse(CODE, `${name} must be a text, got ${describe(value)}`);
  return value;
}

function url(value: unknown): string {
  const found = assertText(value, "methodDetails.resource");
  if (found.length > MAX_URL_LENGTH)
    refuse(CODE, `methodDetails.resource must have at most ${MAX_URL_LENGTH} characters, got ${found.length}`);
  return found;
}
