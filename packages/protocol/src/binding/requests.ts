import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Bytes32 } from "../contexts.ts";
import { fail } from "../errors.ts";
import { bigIntToBytes, bytesToHex, concatBytes } from "../hex.ts";
import { type Address, addressToBigInt, keccakText, keccakWords, parseAddress } from "../keccak.ts";
import { expectInteger, expectUint } from "../validate.ts";
import { expectIssuedAt, MAX_SERVICE_LENGTH } from "./binding.ts";

/** What a wallet signs to take back its link at a registry. */
export interface PhoneUnlink {
  /** E.164. */
  readonly phone: string;
  readonly wallet: Address;
  readonly chainId: bigint;
  readonly pool: Address;
  /** Public base address of the registry. */
  readonly service: string;
  /** Seconds, a multiple of BINDING_SLOT_SECONDS. */
  readonly issuedAt: number;
}

/** What a wallet signs to ask a registry that answers signed lookups only. For one lookup: the nonce is used up. */
export interface PhoneLookup {
  /** E.164. */
  readonly phone: string;
  readonly wallet: Address;
  readonly chainId: bigint;
  /** Public base address of the registry. */
  readonly service: string;
  /** 16 to 64 characters of A-Z, a-z, 0-9, - and _, never used before by this wallet. */
  readonly nonce: string;
  /** Seconds since the Unix epoch: not answered later, and at most LOOKUP_LIFETIME_SECONDS ahead. */
  readonly deadline: number;
}

/** How far ahead the deadline of a lookup may lie. */
export const LOOKUP_LIFETIME_SECONDS = 300;

type FieldType = "string" | "address" | "uint256" | "uint64";
type Fields = readonly { readonly name: string; readonly type: FieldType }[];

const UNLINK: Fields = [
  { name: "phone", type: "string" },
  { name: "wallet", type: "address" },
  { name: "chainId", type: "uint256" },
  { name: "pool", type: "address" },
  { name: "service", type: "string" },
  { name: "issuedAt", type: "uint64" },
];
const LOOKUP: Fields = [
  { name: "phone", type: "string" },
  { name: "wallet", type: "address" },
  { name: "chainId", type: "uint256" },
  { name: "service", type: "string" },
  { name: "nonce", type: "string" },
  { name: "deadline", type: "uint64" },
];
/** The binding's: one name that wallets show for everything of sotto. The chain is a field, as it is there. */
const DOMAIN = { name: "sotto", version: "1" } as const;

/** EIP-712, as ethers and viem take it. */
export interface RequestTypedData {
  readonly domain: { readonly name: string; readonly version: string };
  readonly types: Readonly<Record<string, { name: string; type: string }[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, string | number>>;
}

const invalid = (what: string): never => fail("BINDING_INVALID", what);

/** All that both have in common, in canonical form. The number itself is personal: no message repeats it. */
function readCommon({ phone, wallet, chainId, service }: PhoneUnlink | PhoneLookup) {
  if (typeof phone !== "string" || !/^\+[1-9][0-9]{4,14}$/.test(phone)) invalid("phone must be a number in E.164");
  if (typeof service !== "string" || service.length > MAX_SERVICE_LENGTH || !/^https?:\/\/[!-~]+$/.test(service))
    invalid(`service must be an http(s) URL of at most ${MAX_SERVICE_LENGTH} characters`);
  return { phone, wallet: parseAddress(wallet, "wallet"), chainId: expectUint(chainId, 256, "chainId"), service };
}

function readUnlink(unlink: PhoneUnlink): PhoneUnlink {
  return {
    ...readCommon(unlink),
    pool: parseAddress(unlink.pool, "pool"),
    issuedAt: expectIssuedAt(unlink.issuedAt),
  };
}

function readLookup(lookup: PhoneLookup): PhoneLookup {
  const { nonce, deadline } = lookup;
  if (typeof nonce !== "string" || !/^[A-Za-z0-9_-]{16,64}$/.test(nonce))
    invalid("nonce must be 16 to 64 characters of A-Z, a-z, 0-9, - and _");
  return { ...readCommon(lookup), nonce, deadline: expectInteger(deadline, 0, Number.MAX_SAFE_INTEGER, "deadline") };
}

function typedData(primaryType: string, fields: Fields, values: object): RequestTypedData {
  const entries = fields.map(({ name }) => {
    const value = (values as Record<string, string | number | bigint>)[name]!;
    // JSON has no bigint; every wallet takes decimal.
    return [name, typeof value === "bigint" ? String(value) : value] as const;
  });
  const types = { [primaryType]: fields.map((field) => ({ ...field })) };
  return { domain: { ...DOMAIN }, types, primaryType, message: Object.fromEntries(entries) };
}

const DOMAIN_SEPARATOR = keccakWords([
  keccakText("EIP712Domain(string name,string version)"),
  keccakText(DOMAIN.name),
  keccakText(DOMAIN.version),
]);

function digestOf(primaryType: string, fields: Fields, values: object): Bytes32 {
  const struct = `${primaryType}(${fields.map(({ name, type }) => `${type} ${name}`).join(",")})`;
  const words = fields.map(({ name, type }) => {
    const value = (values as Record<string, string | number | bigint>)[name]!;
    if (type === "string") return keccakText(String(value));
    return type === "address" ? addressToBigInt(String(value)) : BigInt(value);
  });
  const hash = keccakWords([keccakText(struct), ...words]);
  const parts = [DOMAIN_SEPARATOR, hash].map((word) => bigIntToBytes(word, 32));
  return bytesToHex(keccak_256(concatBytes(Uint8Array.of(0x19, 0x01), ...parts)));
}

/** @throws SottoError BINDING_INVALID, INVALID_ADDRESS, INVALID_INTEGER */
export const unlinkTypedData = (unlink: PhoneUnlink): RequestTypedData =>
  typedData("PhoneUnlink", UNLINK, readUnlink(unlink));

/** The EIP-712 digest. Throws as `unlinkTypedData` does. */
export const unlinkDigest = (unlink: PhoneUnlink): Bytes32 => digestOf("PhoneUnlink", UNLINK, readUnlink(unlink));

/** @throws SottoError BINDING_INVALID, INVALID_ADDRESS, INVALID_INTEGER */
export const lookupTypedData = (lookup: PhoneLookup): RequestTypedData =>
  typedData("PhoneLookup", LOOKUP, readLookup(lookup));

/** The EIP-712 digest. Throws as `lookupTypedData` does. */
export const lookupDigest = (lookup: PhoneLookup): Bytes32 => digestOf("PhoneLookup", LOOKUP, readLookup(lookup));
