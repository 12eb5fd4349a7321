/**
 * A second implementation of the protocol, which shares no code with the package: circomlibjs for Poseidon (its reference
 * form, not the optimised one) and Baby Jubjub, node:crypto for HKDF, HMAC and Ed25519, ethers for keccak and the ABI.
 */
import { createHash, createHmac, createPrivateKey, createPublicKey, hkdfSync } from "node:crypto";
import { buildBabyjub, buildPoseidonReference, type Element } from "circomlibjs";
import { AbiCoder, keccak256, toUtf8Bytes } from "ethers";
import { DEPLOYMENT } from "./deployment.ts";

const hash = await buildPoseidonReference();
const curve = await buildBabyjub();

export const P = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
export const L = 2736030358979909402780800718157159386076813972158567259200215660948447373041n;

export interface OraclePoint {
  x: bigint;
  y: bigint;
}

export function poseidonEx(inputs: readonly bigint[], outputs: number, domain: bigint): bigint[] {
  const result = hash(inputs, domain, outputs);
  // A single output is returned as an element, several as an array.
  const elements = outputs === 1 ? [result as Element] : (result as Element[]);
  return elements.map((element) => hash.F.toObject(element));
}

export const poseidon = (inputs: readonly bigint[], domain: bigint) => poseidonEx(inputs, 1, domain)[0]!;

export const node = (children: readonly bigint[]) => (poseidon(children.slice(1), children[0]!) + children[0]!) % P;

const toElements = ({ x, y }: OraclePoint): [Element, Element] => [curve.F.e(x), curve.F.e(y)];
const fromElements = ([x, y]: [Element, Element]): OraclePoint => ({ x: curve.F.toObject(x), y: curve.F.toObject(y) });

export const base8 = fromElements(curve.Base8);
export const generator = fromElements(curve.Generator);
export const multiply = (point: OraclePoint, k: bigint) => fromElements(curve.mulPointEscalar(toElements(point), k));
export const add = (a: OraclePoint, b: OraclePoint) => fromElements(curve.addPoint(toElements(a), toElements(b)));
export const pack = (point: OraclePoint) => `0x${Buffer.from(curve.packPoint(toElements(point))).toString("hex")}`;
export const inSubgroup = (point: OraclePoint) => curve.inSubgroup(toElements(point));

export function montgomery(point: OraclePoint): [bigint, bigint] {
  const { F } = curve;
  const [x, y] = toElements(point);
  const u = F.div(F.add(F.e(1), y), F.sub(F.e(1), y));
  return [F.toObject(u), F.toObject(F.div(u, x))];
}

/** Inverse of 8 modulo l, by Fermat. */
export function eighth(): bigint {
  let [result, power] = [1n, 8n];
  for (let e = L - 2n; e > 0n; e >>= 1n, power = (power * power) % L) if (e & 1n) result = (result * power) % L;
  return result;
}

export function expand(seed: Uint8Array, purpose: string, size: number): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", seed, new Uint8Array(0), toUtf8Bytes(`sotto/v1/${purpose}`), size));
}

const toBigInt = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);

export function keys(seed: Uint8Array, { chainId, pool } = DEPLOYMENT) {
  const deployment = `${chainId}/${pool}`;
  const field = (purpose: string) => toBigInt(expand(seed, purpose, 48)) % P;
  const viewingKey = 2n * (toBigInt(expand(seed, `viewing-key/${deployment}`, 48)) % ((L - 1n) / 2n)) + 1n;
  const encryptionKey = multiply(base8, viewingKey);
  const spendingKeys = [0, 1, 100].map((index) => {
    const purpose = index === 0 ? `spending-key/${deployment}` : `deposit-key/${deployment}/${index}`;
    return { index, value: field(purpose) };
  });
  const ownerTags = spendingKeys.map(({ index, value }) => ({ index, value: poseidon([value], 1n) }));
  const nonceKey = expand(seed, `nonce-key/${deployment}`, 32);
  const tagHex = ownerTags[0]!.value.toString(16).padStart(64, "0");
  const shieldedAddress = pack(encryptionKey) + tagHex;
  const months = ["2020-01", "2026-12", "2099-12"].map((month) => {
    const viewing = 2n * (toBigInt(expand(seed, `viewing-key/${deployment}/${month}`, 48)) % ((L - 1n) / 2n)) + 1n;
    const changeKey = field(`change-key/${deployment}/${month}`);
    return { month, viewingKey: viewing, changeKey, shieldedAddress: pack(multiply(base8, viewing)) + tagHex };
  });
  return {
    months,
    viewingKey,
    changeKey: field(`change-key/${deployment}`),
    nonceKey,
    encryptionKey,
    spendingKeys,
    ownerTags,
    shieldedAddress,
  };
}

/** The PKCS #8 prefix of an Ed25519 key's 32 bytes. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

export function receiptKey(nonceKey: Uint8Array, nf: bigint, ephemeralX: bigint): Buffer {
  const words = [nf, ephemeralX].map((word) => Buffer.from(word.toString(16).padStart(64, "0"), "hex"));
  const seed = createHmac("sha512", nonceKey).update(Buffer.concat(words)).digest().subarray(0, 32);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
}

export function senderNonce(nonceKey: Uint8Array, nf: bigint, ephemeralX: bigint): bigint {
  const key = receiptKey(nonceKey, nf, ephemeralX);
  return toBigInt(createHash("sha512").update("sotto/v1/receipt-key").update(key).digest()) % P;
}

export const keccak = (types: string[], values: unknown[]) =>
  keccak256(AbiCoder.defaultAbiCoder().encode(types, values));
export const keccakField = (types: string[], values: unknown[]) => BigInt(keccak(types, values)) % P;
export const keccakText = (text: string) => keccak256(toUtf8Bytes(text));

/** The tree by definition: hashes every node from its children, without a cache. */
export function treeRoot(leaves: readonly bigint[]): bigint {
  let [level, empty] = [[...leaves], 0n];
  for (let height = 0; height < 10; height++) {
    const above: bigint[] = [];
    for (let i = 0; i < level.length; i += 8) {
      above.push(node(Array.from({ length: 8 }, (_, j) => level[i + j] ?? empty)));
    }
    [level, empty] = [above, node(new Array<bigint>(8).fill(empty))];
  }
  return level[0] ?? empty;
}
