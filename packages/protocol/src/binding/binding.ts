import { keccak_256 } from "@noble/hashes/sha3.js";
import { decodeShieldedAddress } from "../address.ts";
import type { Bytes32 } from "../contexts.ts";
import { fail, SottoError } from "../errors.ts";
import { bigIntToBytes, bytesToBigInt, bytesToHex, concatBytes, hexToBytes } from "../hex.ts";
import { type Address, addressToBigInt, keccakText, keccakWords, parseAddress } from "../keccak.ts";
import { expectInteger, expectObject, expectUint } from "../validate.ts";

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

const DOMAIN = { name: "sotto", version: "1" } as const;
const FIELDS = [
  { name: "phone", type: "string" },
  { name: "wallet", type: "address" },
  { name: "key", type: "bytes" },
  { name: "chainId", type: "uint256" },
  { name: "pool", type: "address" },
  { name: "service", type: "string" },
  { name: "issuedAt", type: "uint64" },
] as const;
const STRUCT = `ShieldedAddressBinding(${FIELDS.map(({ name, type }) => `${type} ${name}`).join(",")})`;

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
export function expectIssuedAt(value: unknown): number {
  const issuedAt = asBinding(() => expectInteger(value, 0, LATEST, "issuedAt"));
  if (issuedAt % BINDING_SLOT_SECONDS !== 0)
    fail("BINDING_INVALID", `issuedAt must be a multiple of ${BINDING_SLOT_SECONDS} seconds, got ${issuedAt}`);
  return issuedAt;
}

/** Runs `read`; whatever it refuses is BINDING_INVALID. */
function asBinding<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause.code === "BINDING_INVALID") throw cause;
    throw new SottoError("BINDING_INVALID", `not a binding: ${cause.message}`, cause.details, { cause });
  }
}

/** All fields of the right form and in lower case; the key's point is not decoded: that costs a millisecond. */
function readForm(value: unknown): ShieldedAddressBinding {
  expectObject(value, "a binding");
  const { phone, wallet, key, chainId, pool, service, issuedAt } = value as ShieldedAddressBinding;
  return {
    phone: readPhone(phone),
    wallet: parseAddress(wallet, "wallet"),
    key: bytesToHex(hexToBytes(key, 64, "key")),
    chainId: expectUint(chainId, 256, "chainId"),
    pool: parseAddress(pool, "pool"),
    service: readService(service),
    issuedAt: expectIssuedAt(issuedAt),
  };
}

/**
 * A binding whose every field is well-formed, addresses in lower case, and whose key is a shielded address that can be
 * paid. Nothing is said of its signature or its age.
 *
 * @throws SottoError BINDING_INVALID; the message names the field and never holds the number
 */
export function expectBinding(value: unknown): ShieldedAddressBinding {
  return asBinding(() => {
    const binding = readForm(value);
    decodeShieldedAddress(binding.key);
    return binding;
  });
}

/** EIP-712, as ethers and viem take it. */
export interface BindingTypedData {
  readonly domain: { readonly name: string; readonly version: string };
  readonly types: { readonly ShieldedAddressBinding: { name: string; type: string }[] };
  readonly primaryType: "ShieldedAddressBinding";
  readonly message: Readonly<Record<string, string | number>>;
}

/**
 * What the wallet is asked to sign. The chain id is a field of the struct and not of the domain: wallets refuse a domain
 * of a chain they are not on, and an account is the same on every chain.
 *
 * `eth_signTypedData_v4` called by hand takes `bindingRequest`: without EIP712Domain in the types some wallets sign
 * another digest.
 *
 * @throws SottoError BINDING_INVALID
 */
export function bindingTypedData(binding: ShieldedAddressBinding): BindingTypedData {
  const { chainId, ...fields } = expectBinding(binding);
  return {
    domain: { ...DOMAIN },
    types: { ShieldedAddressBinding: FIELDS.map((field) => ({ ...field })) },
    primaryType: "ShieldedAddressBinding",
    // JSON has no bigint; every wallet takes decimal.
    message: { ...fields, chainId: String(chainId) },
  };
}

/** The second parameter of `eth_signTypedData_v4`: JSON with the domain's type. Throws BINDING_INVALID. */
export function bindingRequest(binding: ShieldedAddressBinding): string {
  const { types, ...rest } = bindingTypedData(binding);
  const domainType = Object.keys(DOMAIN).map((name) => ({ name, type: "string" }));
  return JSON.stringify({ ...rest, types: { EIP712Domain: domainType, ...types } });
}

const keccak = (bytes: Uint8Array): bigint => bytesToBigInt(keccak_256(bytes));
/** keccakText refuses "", which is a value here. */
const textWord = (text: string): bigint => (text === "" ? keccak(new Uint8Array(0)) : keccakText(text));

const DOMAIN_SEPARATOR = keccakWords([
  keccakText("EIP712Domain(string name,string version)"),
  keccakText(DOMAIN.name),
  keccakText(DOMAIN.version),
]);
const STRUCT_HASH = keccakText(STRUCT);

/**
 * The EIP-712 digest: what is signed, and what a binding is known by. A replay is judged by it, never by the bytes of a
 * signature, of which one digest has many.
 *
 * @throws SottoError BINDING_INVALID
 */
export function bindingDigest(binding: ShieldedAddressBinding): Bytes32 {
  const { phone, wallet, key, chainId, pool, service, issuedAt } = asBinding(() => readForm(binding));
  const struct = keccakWords([
    STRUCT_HASH,
    textWord(phone),
    addressToBigInt(wallet),
    keccak(hexToBytes(key, 64)),
    chainId,
    addressToBigInt(pool),
    textWord(service),
    BigInt(issuedAt),
  ]);
  const words = [DOMAIN_SEPARATOR, struct].map((word) => bigIntToBytes(word, 32));
  return bytesToHex(keccak_256(concatBytes(Uint8Array.of(0x19, 0x01), ...words)));
}
