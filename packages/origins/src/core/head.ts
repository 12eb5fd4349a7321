import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { type Address, type Bytes32, bytesToHex, hexToBytes, LOCAL_CHAIN_IDS, TREE_CAPACITY } from "@sotto/protocol";
import {
  assertField,
  assertInteger,
  assertObject,
  fail,
  parseField,
  recode,
  recoverSigner,
  type StructFields,
  structDigest,
} from "@sotto/protocol/extend";
import { type OriginSet, parseSet, SET_FIELDS } from "./set.ts";

/** A set's heads have times that are multiples of this, seconds: one slot, one head. Local chains may have shorter slots. */
export const SLOT_SECONDS = 60;

/** The length of a slot that heads of a chain may have at least, seconds: a local chain's tests need not wait for a minute. */
export const minSlotSeconds = (chainId: number): number =>
  LOCAL_CHAIN_IDS.includes(BigInt(chainId)) ? 1 : SLOT_SECONDS;

/** The state of a set at a block, as its curator signs it. Every field is part of what is signed. */
export interface OriginHead extends OriginSet {
  /** Counts the heads of the set from 0. */
  readonly number: number;
  /** Digest of the head before it, 32 bytes; zeros for head 0. */
  readonly previous: Bytes32;
  /** Unix time, seconds, a multiple of SLOT_SECONDS (on a local chain, any) and later than that of the head before it. */
  readonly time: number;
  /** The block whose notes it covers. */
  readonly block: number;
  /** Hash of that block, 32 bytes. */
  readonly blockHash: Bytes32;
  /** Time of that block, Unix seconds. */
  readonly blockTime: number;
  /** Number of leaves in the pool's tree at that block, 0 to 2^30. */
  readonly leaves: number;
  /** Root of the mask tree, a field element. */
  readonly maskRoot: bigint;
  /** SHA-256 of the manifest, which lists the chunks of the mask tree. */
  readonly manifest: Bytes32;
  /** Number of entries of the set's log from which the mask follows. */
  readonly entries: number;
  /** How many of them are claims. Each names one spent note, so a wallet knows how many of the set's notes can still be its own. */
  readonly claims: number;
  /** Value of the log's hash chain after these entries. */
  readonly log: Bytes32;
  /** SHA-256 of the policy: the text that says what the curator accepts. */
  readonly policy: Bytes32;
}

/** A head with its curator's signature. */
export interface SignedHead {
  /** The head that the signature is of. */
  readonly head: OriginHead;
  /** 65 bytes, hex with 0x. */
  readonly signature: string;
}

/** The wire form of a signed head: JSON. */
export type WireHead = Readonly<Record<keyof OriginHead | "signature", string | number>>;

/** Maximum size of a signed head as JSON, bytes. */
export const MAX_HEAD_BYTES = 2_048;

const NAME = "OriginHead";
const FIELDS: StructFields = [
  ...SET_FIELDS,
  { name: "number", type: "uint64" },
  { name: "previous", type: "bytes" },
  { name: "time", type: "uint64" },
  { name: "block", type: "uint64" },
  { name: "blockHash", type: "bytes" },
  { name: "blockTime", type: "uint64" },
  { name: "leaves", type: "uint64" },
  { name: "maskRoot", type: "uint256" },
  { name: "manifest", type: "bytes" },
  { name: "entries", type: "uint64" },
  { name: "claims", type: "uint64" },
  { name: "log", type: "bytes" },
  { name: "policy", type: "bytes" },
];

/** 32 zero bytes: what head 0 has as `previous`, and the start of the log's hash chain. */
export const ZERO_BYTES: Bytes32 = `0x${"00".repeat(32)}`;

const bytes32 = (value: unknown, name: string): Bytes32 => bytesToHex(hexToBytes(value, 32, name));
const count = (value: unknown, name: string, max = Number.MAX_SAFE_INTEGER): number =>
  assertInteger(value, 0, max, name);

/** Checks a head's fields. @throws SottoError INVALID_ARGUMENT */
export function parseHead(value: OriginHead): OriginHead {
  return recode("INVALID_ARGUMENT", "not a head", () => {
    const set = parseSet(value);
    const number = count(value.number, "number");
    const previous = bytes32(value.previous, "previous");
    const time = count(value.time, "time");
    const slot = minSlotSeconds(set.chainId);
    if (time % slot !== 0) fail("INVALID_ARGUMENT", `the time of a head must be a multiple of ${slot} s`);
    if ((number === 0) !== (previous === ZERO_BYTES))
      fail("INVALID_ARGUMENT", "head 0, and no other, has zeros as the head before it");
    return {
      ...{ ...set, number, previous, time },
      block: count(value.block, "block"),
      blockHash: bytes32(value.blockHash, "blockHash"),
      blockTime: count(value.blockTime, "blockTime"),
      leaves: count(value.leaves, "leaves", TREE_CAPACITY),
      maskRoot: assertField(value.maskRoot, "maskRoot"),
      manifest: bytes32(value.manifest, "manifest"),
      entries: count(value.entries, "entries"),
      claims: count(value.claims, "claims"),
      log: bytes32(value.log, "log"),
      policy: bytes32(value.policy, "policy"),
    };
  });
}

/** The EIP-712 digest of a head, which the curator signs and the next head names. @throws SottoError INVALID_ARGUMENT */
export const headDigest = (head: OriginHead): Bytes32 => structDigest(NAME, FIELDS, parseHead(head));

/** The account that signs with a private key, 32 bytes: the curator of its sets. */
export const curatorOf = (secret: Uint8Array): Address =>
  `0x${bytesToHex(keccak_256(secp256k1.getPublicKey(secret, false).subarray(1))).slice(26)}`;

/**
 * Signs a head.
 * @param secret the curator's private key, 32 bytes; it must be that of `head.curator`
 * @throws SottoError INVALID_ARGUMENT
 */
export function signHead(head: OriginHead, secret: Uint8Array): SignedHead {
  const checked = parseHead(head);
  const digest = headDigest(checked);
  const bytes = secp256k1.sign(hexToBytes(digest, 32), secret, { prehash: false, format: "recovered" });
  // noble puts the recovery bit first; Ethereum puts it last, as 27 or 28.
  const signature = new Uint8Array(65);
  signature.set(bytes.subarray(1));
  signature[64] = 27 + bytes[0]!;
  if (recoverSigner(digest, signature) !== checked.curator)
    fail("INVALID_ARGUMENT", "the key is not that of the head's curator");
  return { head: checked, signature: bytesToHex(signature) };
}

/** Whether the curator that a head names signed it. */
export const isSigned = ({ head, signature }: SignedHead): boolean =>
  recoverSigner(headDigest(head), hexToBytes(signature, 65, "signature")) === head.curator;

/** A signed head for JSON. @throws SottoError INVALID_ARGUMENT */
export function encodeHead({ head, signature }: SignedHead): WireHead {
  const checked = parseHead(head);
  return { ...checked, maskRoot: String(checked.maskRoot), signature };
}

/** The fields of a head in its wire form. Its signature is not checked. @throws SottoError INVALID_ARGUMENT */
export function decodeHeadFields(wire: unknown): OriginHead {
  return recode("INVALID_ARGUMENT", "not a head", () => {
    assertObject(wire, "a head");
    const fields = wire as WireHead;
    return parseHead({ ...(fields as unknown as OriginHead), maskRoot: parseField(fields.maskRoot, "maskRoot") });
  });
}

/**
 * Inverse of `encodeHead`, for a head from another party.
 * @returns a head that its curator signed
 * @throws SottoError INVALID_ARGUMENT also if the account `curator` did not sign it
 */
export function decodeHead(wire: unknown): SignedHead {
  return recode("INVALID_ARGUMENT", "not a signed head", () => {
    const head = decodeHeadFields(wire);
    const signed = { head, signature: bytesToHex(hexToBytes((wire as WireHead).signature, 65, "signature")) };
    if (!isSigned(signed)) fail("INVALID_ARGUMENT", "the signature is not that of the curator");
    return signed;
  });
}
