import { type Address, parseAddress } from "@sotto/protocol";
import { assertInteger, assertObject, assertText, fail, type StructFields } from "@sotto/protocol/extend";

/** A set of notes: those that a curator accepts in one pool. Its curator's key, its name and the pool identify it. */
export interface OriginSet {
  /** EIP-155 id of the pool's chain. */
  readonly chainId: number;
  /** Address of the pool, lower case. */
  readonly pool: Address;
  /** The account with whose key the curator signs heads, lower case. */
  readonly curator: Address;
  /** 1 to 32 lower-case letters, digits and hyphens, a letter or digit first. A curator may have several sets. */
  readonly name: string;
}

/** Fields of a signed struct that name its set. The curator is the account that signs. */
export const SET_FIELDS: StructFields = [
  { name: "chainId", type: "uint256" },
  { name: "pool", type: "address" },
  { name: "name", type: "string" },
];

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Checks the name of a set. @throws SottoError INVALID_ARGUMENT */
export function parseSetName(name: unknown): string {
  const text = assertText(name, "name");
  if (!NAME.test(text))
    fail("INVALID_ARGUMENT", "the name of a set must have 1 to 32 lower-case letters, digits and hyphens");
  return text;
}

/** Checks what identifies a set; other fields are dropped. @throws SottoError INVALID_ARGUMENT, INVALID_ADDRESS, INVALID_INTEGER */
export function parseSet(value: unknown): OriginSet {
  assertObject(value, "a set");
  const { chainId, pool, curator, name } = value as Record<keyof OriginSet, unknown>;
  return {
    chainId: assertInteger(chainId, 1, Number.MAX_SAFE_INTEGER, "chainId"),
    pool: parseAddress(pool, "pool"),
    curator: parseAddress(curator, "curator"),
    name: parseSetName(name),
  };
}

/** A text that identifies a set among all sets of all curators, chains and pools. */
export const setId = ({ chainId, pool, curator, name }: OriginSet): string => `${chainId}/${pool}/${curator}/${name}`;
