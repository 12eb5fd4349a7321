/** Templates of circomlib 2.0.5 at their usual sizes, each as a main. */

/** circomlib's Base8 in Edwards form. */
export const CIRCOMLIB_BASE8 = [
  5299619240641551281634865583518297030282874472190772894086521144482721001553n,
  16950150798460657717958625567821834550301663161624707787222815936182638968203n,
] as const;
const BASE8 = `[${CIRCOMLIB_BASE8.join(", ")}]`;

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
 * Some divide by 0, and no flag of Decoder need be 1. 254 bits have room for a number and the same number plus p. The inputs of
 * Pedersen need not be bits, so two of its points can be equal, and it divides 0 by 0.
 */
const FREE: readonly Row[] = [
  ["bitify", "Num2Bits(254)"],
  ["montgomery", "Edwards2Montgomery()"],
  ["montgomery", "Montgomery2Edwards()"],
  ["montgomery", "MontgomeryAdd()"],
  ["multiplexer", "Decoder(8)"],
  ["pedersen", "Pedersen(256)"],
];

const NOT_KNOWN: readonly Row[] = [
  ["babyjub", "BabyPbk()"],
  ["eddsaposeidon", "EdDSAPoseidonVerifier()", "wires"],
  ["escalarmulany", "EscalarMulAny(254)"],
  ["escalarmulfix", `EscalarMulFix(253, ${BASE8})`],
  ["montgomery", "MontgomeryDouble()"],
  ["smt/smtverifier", "SMTVerifier(10)", "wires"],
];

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
]);
