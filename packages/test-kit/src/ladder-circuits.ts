/** Circuits that multiply points with circomlib's templates, which need bits, and points on the curve. */

/** The line with which a circuit begins. */
export const HEAD = "pragma circom 2.0.0;";
/** circomlib's Base8 in Edwards form. */
export const BASE8 = [
  5299619240641551281634865583518297030282874472190772894086521144482721001553n,
  16950150798460657717958625567821834550301663161624707787222815936182638968203n,
] as const;

/** Includes files of circomlib. */
export const including = (...names: readonly string[]): string =>
  names.map((name) => `include "circomlib/circuits/${name}.circom";`).join("\n");

/** What a circuit checks about its inputs. */
export interface Parts {
  /** Whether the digits of a scalar are bits. */
  readonly bits?: boolean;
  /** Whether the point is on the curve. */
  readonly curve?: boolean;
  /** The fixed base, in Edwards form. */
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
