import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Bytes32 } from "../contexts.ts";
import { addressToBigInt } from "../ethereum-address.ts";
import { bigIntToBytes, bytesToBigInt, bytesToHex, concatBytes, hexToBytes } from "../hex.ts";
import { keccakText, keccakWords } from "../keccak.ts";

/**
 * The domain of all that wallets sign for sotto: one name that they show for everything. The chain is a field of each
 * struct and not of the domain: wallets refuse a domain of a chain they are not on, and an account is the same on all.
 */
const DOMAIN = { name: "sotto", version: "1" } as const;

/** A field of a struct, of the types that sotto's structs have. */
export interface StructField {
  readonly name: string;
  readonly type: "string" | "bytes" | "address" | "uint256" | "uint64";
}

export type StructFields = readonly StructField[];

/** EIP-712, as ethers and viem take it. */
export interface TypedData<Name extends string = string> {
  readonly domain: { readonly name: string; readonly version: string };
  readonly types: Readonly<Record<Name, { name: string; type: string }[]>>;
  readonly primaryType: Name;
  readonly message: Readonly<Record<string, string | number>>;
}

/** The values of a struct's fields, checked: hex, text, numbers. */
export type StructValues = Readonly<Record<string, string | number | bigint>>;

const fieldOf = (values: object, name: string) => (values as StructValues)[name]!;

/** A fresh copy each time: who changes it changes nothing for the next. */
export function typedDataOf<Name extends string>(name: Name, fields: StructFields, values: object): TypedData<Name> {
  const message = fields.map((field) => {
    const value = fieldOf(values, field.name);
    // JSON has no bigint; every wallet takes decimal.
    return [field.name, typeof value === "bigint" ? String(value) : value] as const;
  });
  const types = { [name]: fields.map((field) => ({ ...field })) } as TypedData<Name>["types"];
  return { domain: { ...DOMAIN }, types, primaryType: name, message: Object.fromEntries(message) };
}

/** The second parameter of `eth_signTypedData_v4`: JSON that names the domain's type too. */
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
  // An empty text is a value here.
  if (type === "string") return keccak(utf8ToBytes(String(value)));
  if (type === "bytes") return keccak(hexToBytes(value, String(value).length / 2 - 1, name));
  return type === "address" ? addressToBigInt(String(value), name) : BigInt(value);
}

/** The EIP-712 digest of a struct whose values were checked. */
export function structDigest(name: string, fields: StructFields, values: object): Bytes32 {
  const type = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
  const struct = keccakWords([keccakText(type), ...fields.map((field) => wordOf(field, values))]);
  const words = [DOMAIN_SEPARATOR, struct].map((word) => bigIntToBytes(word, 32));
  return bytesToHex(keccak_256(concatBytes(Uint8Array.of(0x19, 0x01), ...words)));
}
