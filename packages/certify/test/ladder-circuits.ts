import { CIRCOMLIB_BASE8 } from "@sotto/test-kit/circomlib-templates";

export const HEAD = "pragma circom 2.0.0;";
export const BASE8 = CIRCOMLIB_BASE8;

export const including = (...names: readonly string[]): string =>
  names.map((name) => `include "circomlib/circuits/${name}.circom";`).join("\n");

/** What a circuit checks about its inputs. */
export interface Parts {
  /** Whether the digits of a scalar are bits. */
  readonly bits?: boolean;
  /** Whether the point is on the curve. */
  readonly curve?: boolean;
  readonly base?: readonly [bigint, bigint];
}

const scalar = (n: number, bits = true) =>
  bits
    ? `signal input in; component split = Num2Bits(${n}); split.in <== in;`
    : `signal input in[${n}]; component split = Digits(${n}); for (var i = 0; i < ${n}; i++) split.in[i] <== in[i];`;
const DIGITS = `template Digits(n) { signal input in[n]; signal output out[n]; for (var i = 0; i < n; i++) out[i] <== in[i]; }`;

/** EscalarMulFix for a scalar of n bits. */
export const fixedBase = (n: number, { bits, base = BASE8 }: Parts = {}): string => `${HEAD}
${including("escalarmulfix", "bitify")}
${DIGITS}
template FixedBase() {
    ${scalar(n, bits)}
    signal output out[2];
    component product = EscalarMulFix(${n}, [${base.join(", ")}]);
    for (var i = 0; i < ${n}; i++) product.e[i] <== split.out[i];
    out[0] <== product.out[0];
    out[1] <== product.out[1];
}
component main = FixedBase();`;

/** EscalarMulAny for a scalar of n bits and a point. */
export const variableBase = (n: number, { bits, curve = true }: Parts = {}): string => `${HEAD}
${including("escalarmulany", "babyjub", "bitify")}
${DIGITS}
template VariableBase() {
    ${scalar(n, bits)}
    signal input p[2];
    signal output out[2];
    ${curve ? "component check = BabyCheck(); check.x <== p[0]; check.y <== p[1];" : ""}
    component product = EscalarMulAny(${n});
    for (var i = 0; i < ${n}; i++) product.e[i] <== split.out[i];
    product.p[0] <== p[0];
    product.p[1] <== p[1];
    out[0] <== product.out[0];
    out[1] <== product.out[1];
}
component main = VariableBase();`;

/** Pedersen's hash of n bits. */
export const pedersen = (n: number, { bits }: Parts = {}): string => `${HEAD}
${including("pedersen", "bitify")}
${DIGITS}
template Hash() {
    ${scalar(n, bits)}
    signal output out[2];
    component hash = Pedersen(${n});
    for (var i = 0; i < ${n}; i++) hash.in[i] <== split.out[i];
    out[0] <== hash.out[0];
    out[1] <== hash.out[1];
}
component main = Hash();`;

/** One of circomlib's verifiers of EdDSA signatures, for a key on the curve. */
export const checkedEddsa = (hash: "Poseidon" | "MiMC" | "MiMCSponge"): string => `${HEAD}
${including(`eddsa${hash.toLowerCase()}`, "babyjub")}
template Checked() {
    signal input enabled, Ax, Ay, S, R8x, R8y, M;
    component check = BabyCheck();
    check.x <== Ax;
    check.y <== Ay;
    component verifier = EdDSA${hash}Verifier();
    verifier.enabled <== enabled;
    verifier.Ax <== Ax;
    verifier.Ay <== Ay;
    verifier.S <== S;
    verifier.R8x <== R8x;
    verifier.R8y <== R8y;
    verifier.M <== M;
}
component main = Checked();`;
