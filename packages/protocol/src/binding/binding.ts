import type { Bytes32 } from "../contexts.ts";
import { fail, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";
import { decodeShieldedAddress } from "../shielded-address.ts";
import { assertInteger, assertObject, assertUint } from "../validate.ts";
import { type StructFields, structDigest, type TypedData, typedDataOf, typedDataRequest } from "./eip712.ts";

/**
 * What a wallet signs to say: this shielded address is mine, in this pool, at this number, as this service may tell. A
 * wallet address alone says nothing about who can read and spend what is sent to it privately.
 */
export interface ShieldedAddressBinding {
  /** E.164, or "" where the binding is about no number. */
  readonly phone: string;
  readonly wallet: Address;
  /** The shielded address: 64 bytes as lower-case hex with 0x. */
  readonly key: string;
  readonly chainId: bigint;
  readonly pool: Address;
  /** Public base address of the registry it is for, or "". */
  readonly service: string;
  /** Seconds since the Unix epoch, a multiple of BINDING_SLOT_SECONDS. */
  readonly issuedAt: number;
}

/** issuedAt is a multiple of this, so that who was not told it finds it by trying a few. */
export const BINDING_SLOT_SECONDS = 300;

/** Characters a service's base address may have. */
export const MAX_SERVICE_LENGTH = 256;

/** No leading zero, no more than the fifteen digits of E.164. Whether a number exists is for the registry to say. */
const PHONE = /^(\+[1-9][0-9]{4,14})?$/;
/** Printable ASCII: what a person is shown when signing must not look like something else. */
const SERVICE = /^(https?:\/\/[!-~]+)?$/;
/** Seconds of the latest Date a platform can hold. */
const LATEST = 8_640_000_000_000;

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

function readPhone(value: unknown): string {
  // The number itself is personal: no message repeats it.
  if (typeof value !== "string" || !PHONE.test(value))
    fail("BINDING_INVALID", "phone must be a number in E.164 such as +14155550100, or empty");
  return value;
}

function readService(value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_SERVICE_LENGTH || !SERVICE.test(value))
    fail("BINDING_INVALID", `service must be an http(s) URL of at most ${MAX_SERVICE_LENGTH} characters, or empty`);
  return value;
}

/** @throws SottoError BINDING_INVALID */
export function assertIssuedAt(value: unknown): number {
  const issuedAt = recode("BINDING_INVALID", "not a binding", () => assertInteger(value, 0, LATEST, "issuedAt"));
  if (issuedAt % BINDING_SLOT_SECONDS !== 0)
    fail("BINDING_INVALID", `issuedAt must be a multiple of ${BINDING_SLOT_SECONDS} seconds, got ${issuedAt}`);
  return issuedAt;
}

/** All fields of the right form and in lower case; the key's point is not decoded: that costs a millisecond. */
function readForm(value: unknown): ShieldedAddressBinding {
  assertObject(value, "a binding");
  const { phone, wallet, key, chainId, pool, service, issuedAt } = value as ShieldedAddressBinding;
  return {
    phone: readPhone(phone),
    wallet: parseAddress(wallet, "wallet"),
    key: bytesToHex(hexToBytes(key, 64, "key")),
    chainId: assertUint(chainId, 256, "chainId"),
    pool: parseAddress(pool, "pool"),
    service: readService(service),
    issuedAt: assertIssuedAt(issuedAt),
  };
}

/**
 * A binding whose every field is well-formed, addresses in lower case, and whose key is a shielded address that can be
 * paid. Nothing is said of its signature or its age.
 *
 * @throws SottoError BINDING_INVALID; the message names the field and never holds the number
 */
export function assertBinding(value: unknown): ShieldedAddressBinding {
  return recode("BINDING_INVALID", "not a binding", () => {
    const binding = readForm(value);
    decodeShieldedAddress(binding.key);
    return binding;
  });
}

export type BindingTypedData = TypedData<typeof NAME>;

/**
 * What the wallet is asked to sign. `eth_signTypedData_v4` called by hand takes `bindingRequest`: without EIP712Domain in
 * the types some wallets sign another digest.
 *
 * @throws SottoError BINDING_INVALID
 */
export function bindingTypedData(binding: ShieldedAddressBinding): BindingTypedData {
  return typedDataOf(NAME, FIELDS, assertBinding(binding));
}

/** The second parameter of `eth_signTypedData_v4`: JSON with the domain's type. Throws BINDING_INVALID. */
export function bindingRequest(binding: ShieldedAddressBinding): string {
  return typedDataRequest(bindingTypedData(binding));
}

/**
 * The EIP-712 digest: what is signed, and what a binding is known by. A replay is judged by it, never by the bytes of a
 * signature, of which one digest has many.
 *
 * @throws SottoError BINDING_INVALID
 */
export function bindingDigest(binding: ShieldedAddressBinding): Bytes32 {
  return structDigest(
    NAME,
    FIELDS,
    recode("BINDING_INVALID", "not a binding", () => readForm(binding)),
  );
}
