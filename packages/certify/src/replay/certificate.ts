// The certificate file: gzip of JSON. It is read as the input of a stranger: each field of each step is checked, and
// a field element is a string "0x...". What the numbers refer to is for the replay to check.
import { gunzipSync, gzipSync } from "node:zlib";
import type { Substitution } from "../normalize.ts";
import type { Determination, Fact } from "../steps.ts";
import { P } from "./field.ts";

/**
 * What a certificate shows. `outputs`: all inputs determine every output. `wires`: all inputs determine every wire.
 * `strong`: the public inputs alone determine every output. `source`: all inputs of the source determine every output, also
 * those for which the .r1cs file has no wire; it is about the file without simplification too. `ports`: the same inputs determine
 * every output and the other wires of that file that the certificate names, for `certify` every input and output of a component.
 */
export type Theorem = "outputs" | "wires" | "strong" | "source" | "ports";
export const THEOREMS: readonly Theorem[] = ["outputs", "wires", "strong", "source", "ports"];
export const DEFAULT_THEOREM: Theorem = "outputs";

/** The contents of a certificate file. */
export interface CertificateFile {
  readonly theorem: Theorem;
  /** SHA-256 of the .r1cs file that the theorem is about, in hexadecimal. */
  readonly r1cs: string;
  /** The .r1cs file without simplification on which the proof runs; undefined if it is the same file. */
  readonly plain: Buffer | undefined;
  /** For the theorem `ports`: wires of the file without simplification; otherwise undefined. */
  readonly ports?: readonly number[] | undefined;
  readonly substitutions: readonly Substitution[];
  readonly facts: readonly Fact[];
  readonly steps: readonly Determination[];
}

const FORMAT = "sotto-certificate-1";
/** A certificate may have at most so many bytes once it is decompressed. */
const MAX_BYTES = 400 * 2 ** 20;
/** Levels of lists and objects. JSON.parse takes memory for each that no limit of Node counts. */
const MAX_DEPTH = 10;
const MAX_NUMBER = 2 ** 32;

export function encodeCertificate({ plain, ...rest }: CertificateFile): Buffer {
  const contents = { format: FORMAT, ...rest, plain: plain?.toString("base64") };
  return gzipSync(
    JSON.stringify(contents, (_, value: unknown) => (typeof value === "bigint" ? `0x${encodeInteger(value)}` : value)),
  );
}

/** Intervals of multiples are negative too: the sign is after 0x. */
const encodeInteger = (value: bigint): string => value.toString(16);

type Read = (value: unknown) => unknown;
type Shape = Readonly<Record<string, Read>>;

const refuse = (what: string): never => {
  throw new Error(`the certificate ${what}`);
};

const number: Read = (value) =>
  Number.isInteger(value) && (value as number) >= -1 && (value as number) < MAX_NUMBER
    ? value
    : refuse(`contains ${JSON.stringify(value)?.slice(0, 40)} instead of a number`);
const text: Read = (value) =>
  typeof value === "string" && value.length < 100 ? value : refuse("has a name that is not a text");
const integer: Read = (value) => {
  const [, sign, digits] = /^0x(-?)([0-9a-f]{1,64})$/.exec(String(value)) ?? [];
  if (typeof value !== "string" || digits === undefined) return refuse("contains something else than a field element");
  const size = BigInt(`0x${digits}`);
  return size >= P ? refuse("contains a number above the field's prime") : sign === "-" ? -size : size;
};
/** An integer of a division in limbs, which can exceed the prime. */
const large: Read = (value) => {
  const [, sign, digits] = /^0x(-?)([0-9a-f]{1,2048})$/.exec(String(value)) ?? [];
  if (typeof value !== "string" || digits === undefined) return refuse("contains something else than an integer");
  return sign === "-" ? -BigInt(`0x${digits}`) : BigInt(`0x${digits}`);
};
const list =
  (read: Read): Read =>
  (value) =>
    Array.isArray(value) ? value.map(read) : refuse("lacks a list");
const tuple =
  (length: number) =>
  (read: Read): Read =>
  (value) =>
    Array.isArray(value) && value.length === length ? value.map(read) : refuse(`lacks a list of ${length}`);
const [single, pair, triple] = [tuple(1), tuple(2), tuple(3)] as const;
const optional =
  (read: Read): Read =>
  (value) =>
    value === undefined ? undefined : read(value);
const object =
  (shape: Shape): Read =>
  (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return refuse("lacks an object");
    const entries = value as Record<string, unknown>;
    const unknown = Object.keys(entries).find((key) => !Object.hasOwn(shape, key));
    if (unknown !== undefined) return refuse(`has an unknown field ${JSON.stringify(unknown.slice(0, 40))}`);
    const read = Object.entries(shape).map(([key, one]) => [key, one(entries[key])]);
    return Object.fromEntries(read.filter(([, found]) => found !== undefined));
  };

const form: Read = (value) => {
  const read = object({ constant: integer, wires: list(number), coefficients: list(integer) })(value) as {
    wires: number[];
    coefficients: bigint[];
  };
  return read.wires.length === read.coefficients.length ? read : refuse("has a form with another number of terms");
};
const product = object({ by: number, left: form, right: form, result: form });
const scaled = object({ by: number, scale: integer });
const definition = object({ by: number, wire: number });
const point = object({ u: form, v: form, scale: optional(number) });

const FACTS: Readonly<Record<Fact["rule"], Shape>> = {
  boolean: { by: number, wire: number },
  inverse: { by: number, forms: pair(form) },
  curve: { u: form, v: form, square: product, cubic: product, root: product },
  double: {
    point: number,
    square: product,
    slope: product,
    form: optional(form),
    first: optional(product),
    second: optional(product),
    result: optional(point),
    unit: optional(text),
  },
  odd: { point: number, form },
  scale: { point: number, square: product, cubes: list(product) },
  sign: { scale: number, wire: number, by: number },
  step: { sum: number, unit: number, sign: number, slope: product, first: product, forms: pair(form) },
  stepped: { step: number, line: product, third: product, last: product, result: point },
  window: {
    by: number,
    other: number,
    uWire: number,
    vWire: number,
    scale: optional(number),
    wires: list(number),
    centre: integer,
    parts: list(integer),
  },
  start: { point, wires: list(number), centre: integer, parts: list(integer) },
  add: { sum: number, window: number, line: product, form },
  added: { add: number, first: product, second: product, result: point },
  minus_one: { point: number, form },
  edwards: { point: number, x: product, y: product },
  baby_check: { by: number, x: product, y: product },
  complete: {
    first: number,
    second: number,
    constant: optional(pair(form)),
    beta: product,
    gamma: product,
    tau: product,
    forms: pair(form),
  },
  completed: { complete: number, delta: product, x: product, y: product },
  nonsquare: {
    by: number,
    form,
    root: list(form),
    c: integer,
    k: integer,
    e: integer,
    definitions: list(definition),
  },
  rootless: { square: product, form },
  compare: {
    terms: list(scaled),
    wires: list(number),
    exponents: list(number),
    bound: integer,
    modulus: integer,
    out: optional(number),
  },
  table: {
    bits: list(number),
    definitions: list(definition),
    base: pair(integer),
    multiples: list(integer),
    result: point,
  },
  lift: { edwards: number, nonzero: number, u: product, v: product, forms: single(form), result: point },
  twice: {
    point: number,
    square: product,
    slope: product,
    first: product,
    second: product,
    forms: single(form),
    result: point,
  },
  sum: {
    first: number,
    second: number,
    line: product,
    square: product,
    last: product,
    forms: single(form),
    result: point,
  },
  choice: { bit: number, zero: number, one: number, u: product, v: product, result: point },
  lower: { point: number, x: product, y: product, forms: triple(form) },
  replace: {
    edwards: number,
    flag: number,
    empty: product,
    full: product,
    base: pair(integer),
    x: product,
    y: product,
    coordinates: pair(form),
    forms: single(form),
  },
};

/** A step `sign` takes a wire as given, which no theorem of these files permits. */
const STEPS: Readonly<Record<Exclude<Determination["rule"], "sign">, Shape>> = {
  linear: { by: number, wire: number, nonzero: number },
  bits: { by: number, wires: list(number), more: optional(list(scaled)), below: optional(number) },
  one_hot: { by: number, wires: list(number), flags: list(number) },
  case: { zero: number, other: number, wire: number },
  either: { by: pair(number), wire: number },
  root: { by: number, wire: number, sum: number, below: optional(number), half: optional(number) },
  division: {
    by: number,
    quotient: number,
    remainder: number,
    divisor: optional(number),
    ranges: list(number),
    less: list(scaled),
  },
  long_division: {
    ranges: list(definition),
    flags: list(object({ zero: number, other: number, wire: number })),
    equations: list(object({ terms: list(scaled), weight: large })),
    vanishing: list(number),
    quotient: list(object({ wire: number, weight: large })),
    remainder: list(
      object({
        wire: number,
        weight: large,
        terms: list(scaled),
        equal: optional(object({ by: number, flag: number, terms: list(scaled) })),
      }),
    ),
    leaves: list(number),
    definitions: list(definition),
    checks: list(number),
  },
  system: { wires: list(number), by: list(number) },
};

const step =
  (shapes: Readonly<Record<string, Shape>>): Read =>
  (value) => {
    const rule = (value as { rule?: unknown } | null)?.rule;
    if (typeof rule !== "string" || !Object.hasOwn(shapes, rule))
      return refuse(`has a step of unknown rule ${JSON.stringify(rule)?.slice(0, 40)}`);
    return object({ rule: text, ...shapes[rule] })(value);
  };

const contents = object({
  format: (value) => (value === FORMAT ? value : refuse(`has another format than ${FORMAT}`)),
  theorem: (value) => (THEOREMS.includes(value as Theorem) ? value : refuse("names no known theorem")),
  r1cs: text,
  plain: optional((value) =>
    typeof value === "string" ? Buffer.from(value, "base64") : refuse("has a circuit that is not base64"),
  ),
  ports: optional(list(number)),
  substitutions: list(object({ constraint: number, wire: number, root: number, scale: integer, offset: integer })),
  facts: list(step(FACTS)),
  steps: list(step(STEPS)),
});

function assertShallow(json: Buffer): void {
  const [quote, backslash, ...brackets] = Buffer.from('"\\[]{}');
  const [list, listEnd, open, close] = brackets;
  let [depth, isText] = [0, false];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (isText && byte === backslash) at++;
    else if (byte === quote) isText = !isText;
    else if (!isText && (byte === list || byte === open)) {
      if (++depth > MAX_DEPTH) refuse(`has more than ${MAX_DEPTH} levels`);
    } else if (!isText && (byte === listEnd || byte === close)) depth--;
  }
}

function attempt<Result>(read: () => Result): Result {
  try {
    return read();
  } catch {
    return refuse("is not compressed JSON of at most 400 MB");
  }
}

/** Reads a certificate file. Throws an Error if it is not one. */
export function decodeCertificate(bytes: Uint8Array): CertificateFile {
  const json = attempt(() => gunzipSync(bytes, { maxOutputLength: MAX_BYTES }));
  assertShallow(json);
  const read = contents(attempt((): unknown => JSON.parse(json.toString())));
  return { plain: undefined, ...(read as object) } as CertificateFile;
}
