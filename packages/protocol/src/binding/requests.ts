import type { Bytes32 } from "../contexts.ts";
import { fail, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { assertInteger, assertObject, assertUint } from "../validate.ts";
import { assertIssuedAt, MAX_SERVICE_LENGTH } from "./binding.ts";
import { type StructFields, structDigest, type TypedData, typedDataOf } from "./eip712.ts";

/** The message that a wallet signs to remove its link at a registry. */
export interface PhoneUnlink {
  /** E.164. */
  readonly phone: string;
  /** The wallet that is linked to the number; it signs. */
  readonly wallet: Address;
  /** EIP-155 id of the link. */
  readonly chainId: bigint;
  /** Pool of the link. */
  readonly pool: Address;
  /** Public base URL of the registry. */
  readonly service: string;
  /** Seconds since the Unix epoch, a multiple of BINDING_SLOT_SECONDS. */
  readonly issuedAt: number;
}

/**
 * The message that a wallet signs to look up a number at a registry that requires signed lookups. Valid for one lookup:
 * the nonce is consumed.
 */
export interface PhoneLookup {
  /** E.164. */
  readonly phone: string;
  /** The account that looks the number up and signs. */
  readonly wallet: Address;
  /** EIP-155 id of the registry's chain. */
  readonly chainId: bigint;
  /** Public base URL of the registry. */
  readonly service: string;
  /** 16 to 64 characters of A-Z, a-z, 0-9, - and _, never used before by this wallet. */
  readonly nonce: string;
  /**
   * Seconds since the Unix epoch, at most LOOKUP_LIFETIME_SECONDS ahead. After that the registry rejects the lookup.
   */
  readonly deadline: number;
}

/** Maximum time from now to the deadline of a lookup, seconds. */
export const LOOKUP_LIFETIME_SECONDS = 300;

const UNLINK: StructFields = [
  { name: "phone", type: "string" },
  { name: "wallet", type: "address" },
  { name: "chainId", type: "uint256" },
  { name: "pool", type: "address" },
  { name: "service", type: "string" },
  { name: "issuedAt", type: "uint64" },
];
const LOOKUP: StructFields = [
  { name: "phone", type: "string" },
  { name: "wallet", type: "address" },
  { name: "chainId", type: "uint256" },
  { name: "service", type: "string" },
  { name: "nonce", type: "string" },
  { name: "deadline", type: "uint64" },
];
/** The EIP-712 data of a request to a registry, which a wallet signs. */
export type RequestTypedData = TypedData;

const invalid = (what: string): never => fail("BINDING_INVALID", what);

/**
 * Parses the fields of both messages into canonical form. The number is personal data, so error messages never contain
 * it.
 */
function parseCommon({ phone, wallet, chainId, service }: PhoneUnlink | PhoneLookup) {
  if (typeof phone !== "string" || !/^\+[1-9][0-9]{4,14}$/.test(phone)) invalid("phone must be a number in E.164");
  if (typeof service !== "string" || service.length > MAX_SERVICE_LENGTH || !/^https?:\/\/[!-~]+$/.test(service))
    invalid(`service must be an http(s) URL of at most ${MAX_SERVICE_LENGTH} characters`);
  return { phone, wallet: parseAddress(wallet, "wallet"), chainId: assertUint(chainId, 256, "chainId"), service };
}

function parseUnlink(unlink: PhoneUnlink): PhoneUnlink {
  return recode("BINDING_INVALID", "not an unlink", () => {
    assertObject(unlink, "an unlink");
    const { pool, issuedAt } = unlink;
    return { ...parseCommon(unlink), pool: parseAddress(pool, "pool"), issuedAt: assertIssuedAt(issuedAt) };
  });
}

function parseLookup(lookup: PhoneLookup): PhoneLookup {
  return recode("BINDING_INVALID", "not a lookup", () => {
    assertObject(lookup, "a lookup");
    const { nonce, deadline } = lookup;
    if (typeof nonce !== "string" || !/^[A-Za-z0-9_-]{16,64}$/.test(nonce))
      invalid("nonce must be 16 to 64 characters of A-Z, a-z, 0-9, - and _");
    return { ...parseCommon(lookup), nonce, deadline: assertInteger(deadline, 0, Number.MAX_SAFE_INTEGER, "deadline") };
  });
}

/** The EIP-712 data that a wallet signs to delete a link. @throws SottoError BINDING_INVALID */
export const unlinkTypedData = (unlink: PhoneUnlink): RequestTypedData =>
  typedDataOf("PhoneUnlink", UNLINK, parseUnlink(unlink));

/** The EIP-712 digest. @throws SottoError BINDING_INVALID */
export const unlinkDigest = (unlink: PhoneUnlink): Bytes32 => structDigest("PhoneUnlink", UNLINK, parseUnlink(unlink));

/** The EIP-712 data that a wallet signs to look up a number. @throws SottoError BINDING_INVALID */
export const lookupTypedData = (lookup: PhoneLookup): RequestTypedData =>
  typedDataOf("PhoneLookup", LOOKUP, parseLookup(lookup));

/** The EIP-712 digest. @throws SottoError BINDING_INVALID */
export const lookupDigest = (lookup: PhoneLookup): Bytes32 => structDigest("PhoneLookup", LOOKUP, parseLookup(lookup));
