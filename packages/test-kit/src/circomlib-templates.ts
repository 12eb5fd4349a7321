/** Templates of circomlib 2.0.5 at their usual sizes, each as a main. */

import { fixedBase, BASE8 as POINT, pedersen, variableBase } from "./ladder-circuits.ts";

const BASE8 = `[${POINT.join(", ")}]`;

/** A template to certify. */
export interface Template {
  readonly source: string;
  /** What is asked: that its inputs determine its outputs, or every wire if it has no outputs. */
  readonly theorem: "outputs" | "wires";
  /** Whether they do; undefined if that is not known. */
  readonly isDetermined: boolean | undefined;
}

type Row = readonly [file: string, main: string, theorem?: Template["theorem"]];

const DETERMINED: readonly Row[] = [
  ["aliascheck", "AliasCheck()", "wires"],
  ["babyjub", "BabyAdd()"],
  ["babyjub", "BabyCheck()", "wires"],
  ["babyjub", "BabyDbl()"],
  ["babyjub", "BabyPbk()"],
  ["binsum", "BinSum(32, 2)"],
  ["bitify", "Bits2Num(64)"],
  ["bitify", "Num2Bits(64)"],
  ["bitify", "Num2Bits_strict()"],
  ["comparators", "IsEqual()"],
  ["comparators", "IsZero()"],
  ["comparators", "LessThan(32)"],
  ["gates", "MultiAND(8)"],
  ["gates", "XOR()"],
  ["mimc", "MiMC7(91)"],
  ["mimcsponge", "MiMCSponge(2, 220, 1)"],
  ["multiplexer", "Multiplexer(1, 8)"],
  ["mux3", "Mux3()"],
  ["pointbits", "Bits2Point_Strict()"],
  ["pointbits", "Point2Bits_Strict()"],
  ["poseidon", "Poseidon(3)"],
  ["sha256/sha256", "Sha256(64)"],
  ["sign", "Sign()"],
  ["switcher", "Switcher()"],
];

/**
 * Some divide by 0, and no flag of Decoder need be 1. 254 bits have room for a number and the same number plus p. The digits of a scalar
 * need not be bits, and a point need not be on the curve. In a verifier, IsZero's inverse of 0 is free.
 */
const FREE: readonly Row[] = [
  ["bitify", "Num2Bits(254)"],
  ["eddsamimc", "EdDSAMiMCVerifier()", "wires"],
  ["eddsamimcsponge", "EdDSAMiMCSpongeVerifier()", "wires"],
  ["eddsaposeidon", "EdDSAPoseidonVerifier()", "wires"],
  ["escalarmulany", "BitElementMulAny()"],
  ["escalarmulany", "EscalarMulAny(254)"],
  ["escalarmulany", "SegmentMulAny(148)"],
  ["escalarmulfix", `EscalarMulFix(253, ${BASE8})`],
  ["escalarmulfix", "SegmentMulFix(82)"],
  ["escalarmulfix", "WindowMulFix()"],
  ["montgomery", "Edwards2Montgomery()"],
  ["montgomery", "Montgomery2Edwards()"],
  ["montgomery", "MontgomeryAdd()"],
  ["montgomery", "MontgomeryDouble()"],
  ["multiplexer", "Decoder(8)"],
  ["pedersen", "Pedersen(256)"],
  ["pedersen", "Window4()"],
];

const NOT_KNOWN: readonly Row[] = [["smt/smtverifier", "SMTVerifier(10)", "wires"]];

/** Templates with what they need: bits, and a point on the curve. */
const COMPLETE: Readonly<Record<string, string>> = {
  "EscalarMulFix(253) for bits": fixedBase(253),
  "EscalarMulAny(253) for bits and a point of the curve": variableBase(253),
  "Pedersen(248) for bits": pedersen(248),
};

const templatesOf = (rows: readonly Row[], isDetermined: boolean | undefined): [name: string, Template][] =>
  rows.map(([file, main, theorem = "outputs"]) => [
    main.replace(BASE8, "BASE8"),
    {
      source: `pragma circom 2.0.0;\ninclude "circomlib/circuits/${file}.circom";\ncomponent main = ${main};`,
      theorem,
      isDetermined,
    },
  ]);

/** The templates, by name and size. */
export const CIRCOMLIB_TEMPLATES: Readonly<Record<string, Template>> = Object.fromEntries([
  ...templatesOf(DETERMINED, true),
  ...templatesOf(FREE, false),
  ...templatesOf(NOT_KNOWN, undefined),
  ...Object.entries(COMPLETE).map(([name, source]): [string, Template] => [
    name,
    { source, theorem: "outputs", isDetermined: true },
  ]),
]);
