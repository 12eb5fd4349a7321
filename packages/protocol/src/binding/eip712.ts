import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Bytes32 } from "../contexts.ts";
import { addressToBigInt } from "../ethereum-address.ts";
import { bigIntToBytes, bytesToBigInt, bytesToHex, concatBytes, hexToBytes } from "../hex.ts";
import { keccakText, keccakWords } from "../keccak.ts";

/**
 * The domain of all messages that wallets sign for sotto, so that wallets show one name for all of them. The chain id is a
 * field of each struct, not of the domain: an account is the same on all chains, but a wallet refuses a domain whose
 * chain id is not that of its current chain.
 */
const DOMAIN = { name: "sotto", version: "1" } as const;

/** A field of a struct, with one of the types that sotto's structs use. */
export interface StructField {
  /** As the struct's type names it. */
  readonly name: string;
  /** As the struct's type writes it. */
  readonly type: "string" | "bytes" | "address" | "uint256" | "uint64";
}

/** The fields of a struct, in the order of its type. */
export type StructFields = readonly StructField[];

/** EIP-712 typed data in the form of ethers and viem. */
export interface TypedData<Name extends string = string> {
  /** The domain of all messages that wallets sign for sotto. */
  readonly domain: { readonly name: string; readonly version: string };
  /** The struct's fields, by its name. */
  readonly types: Readonly<Record<Name, { name: string; type: string }[]>>;
  /** The struct's name. */
  readonly primaryType: Name;
  /** The values; integers above 2^53 as decimal strings. */
  readonly message: Readonly<Record<string, string | number>>;
}

/** The validated values of a struct's fields: hex, text, numbers. */
export type StructValues = Readonly<Record<string, string | number | bigint>>;

const fieldOf = (values: object, name: string) => (values as StructValues)[name]!;

/** Typed data of a struct; each call returns a fresh copy, which the caller may change. */
export function typedDataOf<Name extends string>(name: Name, fields: StructFields, values: object): TypedData<Name> {
  const message = fields.map((field) => {
    const value = fieldOf(values, field.name);
    // JSON has no bigint; every wallet accepts a decimal string.
    return [field.name, typeof value === "bigint" ? String(value) : value] as const;
  });
  const types = { [name]: fields.map((field) => ({ ...field })) } as TypedData<Name>["types"];
  return { domain: { ...DOMAIN }, types, primaryType: name, message: Object.fromEntries(message) };
}

/** The second parameter of `eth_signTypedData_v4`: JSON that includes the domain's type. */
export function typedDataRequest({ types, ...rest }: TypedData): string {
  const domainType = Object.keys(DOMAIN).map((name) => ({ name, type: "string" }));
  return JSON.stringify({ ...rest, types: { EIP712Domain: domainType, ...types } });
}

const keccak = (bytes: Uint8Array): bigint => bytesToBigInt(keccak_256(bytes));

const DOMAIN_SEPARATOR = keccakWords([
  keccakText("EIP712Domain(string name,string version)"),
  keccakText(DOMAIN.name),
  keccakText(DOMAIN.version),
]);

function wordOf({ name, type }: StructField, values: object): bigint {
  const value = fieldOf(values, name);
  // An empty string is valid here.
  if (type === "string") return keccak(utf8ToBytes(String(value)));
  if (type === "bytes") return keccak(hexToBytes(value, String(value).length / 2 - 1, name));
  return type === "address" ? addressToBigInt(String(value), name) : BigInt(value);
}

/** The EIP-712 digest of a struct whose values have been checked. */
export function structDigest(name: string, fields: StructFields, values: object): Bytes32 {
  const type = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
  const struct = keccakWords([keccakText(type), ...fields.map((field) => wordOf(field, values))]);
  const words = [DOMAIN_SEPARATOR, struct].map((word) => bigIntToBytes(word, 32));
  return bytesToHex(keccak_256(concatBytes(Uint8Array.of(0x19, 0x01), ...words)));
}
