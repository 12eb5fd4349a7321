import type { Bytes32 } from "../contexts.ts";
import { fail, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";
import { decodeShieldedAddress } from "../shielded-address.ts";
import { assertInteger, assertObject, assertUint } from "../validate.ts";
import { type StructFields, structDigest, type TypedData, typedDataOf, typedDataRequest } from "./eip712.ts";

/**
 * The statement that a wallet signs to claim a shielded address: for one chain and pool, and optionally for a phone number
 * and the registry that publishes it. A wallet address alone does not identify the keys that can read and spend private
 * payments to it.
 */
export interface ShieldedAddressBinding {
  /** E.164, or "" for a binding without a number. */
  readonly phone: string;
  /** The wallet that signs. */
  readonly wallet: Address;
  /** The shielded address: 64 bytes as lower-case hex with 0x. */
  readonly key: string;
  /** EIP-155 id of the pool's chain, below 2^256. */
  readonly chainId: bigint;
  /** The only pool in which the key may be paid. */
  readonly pool: Address;
  /** Public base URL of the registry that publishes the binding, or "". */
  readonly service: string;
  /** Seconds since the Unix epoch, a multiple of BINDING_SLOT_SECONDS. */
  readonly issuedAt: number;
}

/** issuedAt is a multiple of this, so that a registry that does not receive it can find it by trying a few values. */
export const BINDING_SLOT_SECONDS = 300;

/** Maximum length of a registry's base URL, characters. */
export const MAX_SERVICE_LENGTH = 256;

/** E.164: no leading zero, at most fifteen digits. The registry checks whether the number exists. */
const PHONE = /^(\+[1-9][0-9]{4,14})?$/;
/** Printable ASCII only, so that the URL in the wallet's prompt cannot be confused with a look-alike. */
const SERVICE = /^(https?:\/\/[!-~]+)?$/;
/** The latest time that a Date can represent, seconds. */
const MAX_TIMESTAMP_SECONDS = 8_640_000_000_000;

const NAME = "ShieldedAddressBinding";
const FIELDS: StructFields = [
  { name: "phone", type: "string" },
  { name: "wallet", type: "address" },
  { name: "key", type: "bytes" },
  { name: "chainId", type: "uint256" },
  { name: "pool", type: "address" },
  { name: "service", type: "string" },
  { name: "issuedAt", type: "uint64" },
];

function parsePhone(value: unknown): string {
  // The number is personal data, so error messages never contain it.
  if (typeof value !== "string" || !PHONE.test(value))
    fail("BINDING_INVALID", "phone must be a number in E.164 such as +14155550100, or empty");
  return value;
}

function parseService(value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_SERVICE_LENGTH || !SERVICE.test(value))
    fail("BINDING_INVALID", `service must be an http(s) URL of at most ${MAX_SERVICE_LENGTH} characters, or empty`);
  return value;
}

/** Checks the time of a binding: whole seconds, 0 or more. @throws SottoError BINDING_INVALID */
export function assertIssuedAt(value: unknown): number {
  const issuedAt = recode("BINDING_INVALID", "not a binding", () =>
    assertInteger(value, 0, MAX_TIMESTAMP_SECONDS, "issuedAt"),
  );
  if (issuedAt % BINDING_SLOT_SECONDS !== 0)
    fail("BINDING_INVALID", `issuedAt must be a multiple of ${BINDING_SLOT_SECONDS} seconds, got ${issuedAt}`);
  return issuedAt;
}

/**
 * Checks the format of all fields and converts them to lower case. Skips decoding the key's point, which takes a
 * millisecond.
 */
function parseForm(value: unknown): ShieldedAddressBinding {
  assertObject(value, "a binding");
  const { phone, wallet, key, chainId, pool, service, issuedAt } = value as ShieldedAddressBinding;
  return {
    phone: parsePhone(phone),
    wallet: parseAddress(wallet, "wallet"),
    key: bytesToHex(hexToBytes(key, 64, "key")),
    chainId: assertUint(chainId, 256, "chainId"),
    pool: parseAddress(pool, "pool"),
    service: parseService(service),
    issuedAt: assertIssuedAt(issuedAt),
  };
}

/** Bindings that `assertBinding` returned. They are frozen, so they stay valid. */
const checked = new WeakSet<object>();

/**
 * Checks that every field of a binding is well-formed and that its key is a valid shielded address. Returns the binding
 * with addresses in lower case, frozen; checking that object again costs nothing. Does not check its signature or its age.
 * @throws SottoError BINDING_INVALID; the message names the field and never contains the number
 */
export function assertBinding(value: unknown): ShieldedAddressBinding {
  return recode("BINDING_INVALID", "not a binding", () => {
    if (checked.has(value as object)) return value as ShieldedAddressBinding;
    const binding = Object.freeze(parseForm(value));
    decodeShieldedAddress(binding.key);
    checked.add(binding);
    return binding;
  });
}

/** The EIP-712 data of a binding, which a wallet signs. */
export type BindingTypedData = TypedData<typeof NAME>;

/**
 * The typed data that the wallet signs. To call `eth_signTypedData_v4` directly, pass `bindingRequest` instead: if the
 * types lack EIP712Domain, some wallets sign a different digest.
 * @throws SottoError BINDING_INVALID
 */
export function bindingTypedData(binding: ShieldedAddressBinding): BindingTypedData {
  return typedDataOf(NAME, FIELDS, assertBinding(binding));
}

/**
 * The second parameter of `eth_signTypedData_v4`: JSON with the domain's type.
 * @throws SottoError BINDING_INVALID
 */
export function bindingRequest(binding: ShieldedAddressBinding): string {
  return typedDataRequest(bindingTypedData(binding));
}

/**
 * The EIP-712 digest that the wallet signs. It identifies the binding. Detect replays by this digest, never by the
 * signature's bytes: one digest can have many valid signatures.
 * @throws SottoError BINDING_INVALID
 */
export function bindingDigest(binding: ShieldedAddressBinding): Bytes32 {
  return structDigest(
    NAME,
    FIELDS,
    recode("BINDING_INVALID", "not a binding", () => parseForm(binding)),
  );
}
