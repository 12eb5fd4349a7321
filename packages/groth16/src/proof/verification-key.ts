/**
 * Parses a verification key in snarkjs's JSON as strictly as a proof: a key with points off the curve, or for which nobody made
 * secrets, may accept anything.
 */

import { groth16Error, ofCircuit } from "../errors.ts";
import { assertG1, assertG2 } from "./decode.ts";
import { BASE_FIELD_ORDER } from "./orders.ts";

type G1Json = readonly [string, string, string];
type G2Json = readonly [readonly [string, string], readonly [string, string], readonly [string, string]];

/**
 * The fields of snarkjs's verification_key.json that are used: points as decimal strings, affine with a third
 * coordinate of one.
 */
export interface VerificationKey {
  /** No other proof system is accepted. */
  readonly protocol: "groth16";
  /** BN254, under the name that snarkjs uses. */
  readonly curve: "bn128";
  /** Number of public signals, 0 or more. */
  readonly nPublic: number;
  readonly vk_alpha_1: G1Json;
  readonly vk_beta_2: G2Json;
  readonly vk_gamma_2: G2Json;
  readonly vk_delta_2: G2Json;
  /** nPublic + 1 points of G1: the constant, then one for each public signal. */
  readonly IC: readonly G1Json[];
}

/** Keys that `parseVerificationKey` returned. */
const parsed = new WeakSet<object>();

/** The key itself if it was parsed, otherwise what its parts say. @throws Groth16Error VERIFICATION_KEY_INVALID */
export const checkedKey = (key: VerificationKey): VerificationKey =>
  parsed.has(key) ? key : parseVerificationKey(key);

/**
 * Reads a verification key in snarkjs's format, strictly. It refuses keys with which anyone can make proofs of false statements,
 * because two of beta, gamma and delta are the same point or opposite ones, as gamma and delta are until somebody contributes.
 * @param source the JSON text, or the object parsed from it
 * @param circuit the circuit's name, for the message; default: none
 * @throws Groth16Error VERIFICATION_KEY_INVALID; the message names the part and the reason
 */
export function parseVerificationKey(source: unknown, circuit = ""): VerificationKey {
  const fail = (reason: string, cause?: unknown): never => {
    const message = `The verification key${ofCircuit(circuit)} is not valid: ${reason}.`;
    throw groth16Error("VERIFICATION_KEY_INVALID", message, { circuit, reason }, cause);
  };
  let key = source as Partial<Record<keyof VerificationKey, unknown>> | null;
  if (typeof source === "string") {
    try {
      key = JSON.parse(source);
    } catch (error) {
      return fail("it is not JSON", error);
    }
  }
  if (typeof key !== "object" || key === null) return fail("it is not an object");
  if (key.protocol !== "groth16") return fail("`protocol` must be groth16");
  if (key.curve !== "bn128") return fail("`curve` must be bn128");
  const { nPublic, IC } = key;
  if (typeof nPublic !== "number" || !Number.isSafeInteger(nPublic) || nPublic < 0)
    return fail("`nPublic` is not a count");
  if (!Array.isArray(IC) || IC.length !== nPublic + 1) return fail("`IC` must hold nPublic + 1 points");
  try {
    const checked: VerificationKey = {
      protocol: "groth16",
      curve: "bn128",
      nPublic,
      vk_alpha_1: g1("vk_alpha_1", key.vk_alpha_1),
      vk_beta_2: g2("vk_beta_2", key.vk_beta_2),
      vk_gamma_2: g2("vk_gamma_2", key.vk_gamma_2),
      vk_delta_2: g2("vk_delta_2", key.vk_delta_2),
      IC: IC.map((point, index) => g1(`IC[${index}]`, point)),
    };
    assertDistinct(checked);
    parsed.add(checked);
    return checked;
  } catch (error) {
    return fail(error instanceof Error ? error.message.replace(/\.$/, "") : String(error), error);
  }
}

/**
 * With gamma = delta, the proof A = alpha, B = beta, C = -(IC[0] + sum of s_i IC[i]) is valid for any signals s; the other pairs, also
 * with one of them negated, have such proofs too.
 */
function assertDistinct(key: VerificationKey): void {
  const names = ["vk_beta_2", "vk_gamma_2", "vk_delta_2"] as const;
  // Opposite points have one x.
  for (const [i, name] of names.entries())
    for (const other of names.slice(i + 1))
      if (String(key[name][0]) === String(key[other][0]))
        throw new Error(
          `${name} and ${other} are equal or opposite, so anyone can forge proofs; use the key of a setup to which somebody has contributed`,
        );
}

function g1(name: string, value: unknown): G1Json {
  const [x, y] = affine(name, value).map((word, index) => coordinate(`${name}[${index}]`, word)) as [bigint, bigint];
  assertG1(name, x, y);
  return [String(x), String(y), "1"];
}

function g2(name: string, value: unknown): G2Json {
  const [x, y] = affine(name, value).map((pair, index) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw new Error(`${name}[${index}] must be a pair`);
    return pair.map((word, part) => coordinate(`${name}[${index}][${part}]`, word)) as [bigint, bigint];
  }) as [[bigint, bigint], [bigint, bigint]];
  assertG2(name, x, y);
  return [
    [String(x[0]), String(x[1])],
    [String(y[0]), String(y[1])],
    ["1", "0"],
  ];
}

/** snarkjs writes affine points with a third coordinate of one; with any other value, the point would be different. */
function affine(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value) || value.length !== 3) throw new Error(`${name} must have three coordinates`);
  if (String(value[2]) !== "1" && String(value[2]) !== "1,0") throw new Error(`${name} must be affine`);
  return value.slice(0, 2);
}

function coordinate(name: string, word: unknown): bigint {
  if (typeof word !== "string" || !/^(?:0|[1-9][0-9]{0,76})$/.test(word) || BigInt(word) >= BASE_FIELD_ORDER)
    throw new Error(`${name} must be a canonical decimal string below q`);
  return BigInt(word);
}
