// Almost valid requests for the fuzz tests. Each one is invalid, so the service must not verify, queue or pay any of them.
import { type Random, SCALAR_FIELD_ORDER } from "./random.ts";

export interface FuzzRequest {
  readonly path: string;
  /** What was changed. */
  readonly what: string;
  readonly type: string | undefined;
  readonly body: Buffer;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A valid body, and another valid body of the same kind with no field value in common. */
export interface Sample {
  readonly path: string;
  readonly right: Fields;
  readonly other: Fields;
  /** Fields that the body may omit. */
  readonly optional: readonly string[];
  /** Fields that are equal in both bodies, so that swapping them changes nothing. */
  readonly same: readonly string[];
}

/** Order of BN254's base field: a coordinate plus this order is another encoding of the same coordinate. */
const BASE_FIELD_ORDER = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const JSON_TYPE = "application/json";
const MEGABYTE = 1 << 20;
const OTHER_TYPES = [
  "text/plain",
  "application/xml",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-16",
];
const WRONG: readonly unknown[] = [
  null,
  true,
  7,
  -1,
  1.5,
  1e300,
  "",
  "x",
  "0",
  [],
  {},
  [null],
  { toString: "x" },
  "\u0000",
  "\ud800",
];

/** Changes one value, at any depth. Returns undefined if the change does not apply to the value. */
type Change = (value: unknown, random: Random) => unknown;

const isDecimal = (value: unknown): value is string => typeof value === "string" && /^[0-9]+$/.test(value);
const isHex = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]+$/.test(value);

const aliased: Change = (value, random) => {
  if (isDecimal(value)) {
    const number = BigInt(value);
    const sums = [SCALAR_FIELD_ORDER, BASE_FIELD_ORDER, 1n << 256n].map((order) => String(number + order));
    return random.pick([
      ...sums,
      `0${value}`,
      `+${value}`,
      ` ${value}`,
      `${value}.0`,
      `${value}e0`,
      `0x${number.toString(16)}`,
    ]);
  }
  if (isHex(value)) return random.pick([value.slice(2), `0X${value.slice(2)}`, `${value}00`, `0x00${value.slice(2)}`]);
  return typeof value === "number" ? random.pick([String(value), value + 0.5, value + 2 ** 53]) : undefined;
};

const flipped: Change = (value, random) => {
  if (isDecimal(value)) return String(BigInt(value) ^ (1n << BigInt(random.below(BigInt(value).toString(2).length))));
  if (typeof value === "number") return value ^ (1 << random.below(20));
  if (typeof value !== "string" || value.length < 2) return undefined;
  // Skip the last character, because base64url decoders ignore some of its bits.
  const at = random.below(value.length - 1);
  return value.slice(0, at) + String.fromCharCode(value.charCodeAt(at) ^ (1 << random.below(5))) + value.slice(at + 1);
};

const CHANGES: Readonly<Record<string, Change>> = {
  "wrong type": (value, random) => {
    const wrong = random.pick(WRONG.map((each) => [each]))[0];
    return wrong === value ? [value] : wrong;
  },
  "too long": (value, random) => {
    const times = random.pick([2, 100, 800]);
    if (Array.isArray(value)) return Array.from({ length: times }, () => value).flat();
    return String(value).repeat(times);
  },
  negative: (value) => (typeof value === "number" ? -value : isDecimal(value) ? `-${value}` : undefined),
  aliased,
  flipped,
};

/** Applies a change to a field, or to one element if the field is an array. */
function changed(change: Change, value: unknown, random: Random): unknown {
  if (!Array.isArray(value) || random.below(4) === 0) return change(value, random);
  const at = random.below(value.length);
  const inner = change(value[at], random);
  return inner === undefined ? undefined : value.with(at, inner);
}

/** The valid fields with one field changed; undefined if the randomly chosen change does not apply. */
export function fieldMutation({ right, other, optional, same }: Sample, random: Random): [string, unknown] | undefined {
  const field = random.pick(Object.keys(right));
  const kind = random.pick(["missing", "swapped", ...Object.keys(CHANGES)]);
  if (kind === "missing") {
    if (optional.includes(field)) return undefined;
    const { [field]: _, ...rest } = right;
    return [`${field} missing`, rest];
  }
  if (kind === "swapped")
    return same.includes(field) ? undefined : [`${field} swapped`, { ...right, [field]: other[field] }];
  const value = changed(CHANGES[kind]!, right[field], random);
  if (value === undefined || JSON.stringify(value) === JSON.stringify(right[field])) return undefined;
  return [`${field} ${kind}`, { ...right, [field]: value }];
}

/** Request bodies that cannot result from serializing an object. */
function textMutation({ right }: Sample, random: Random): [string, Buffer] {
  const text = JSON.stringify(right);
  const field = random.pick(Object.keys(right));
  const key = random.pick(["__proto__", "constructor", "prototype", "\\u005f_proto__"]);
  const depth = random.pick([25, 100, 20_000]);
  const after = (start: string) => Buffer.from(`${start},${text.slice(1)}`);
  const makers: Record<string, () => Buffer> = {
    "prototype key": () => after(`{"${key}":{"valid":true,"status":"success"}`),
    "duplicate key": () => after(`{"${field}":${JSON.stringify(right[field])}`),
    "deep nesting": () => after(`{"extra":${"[".repeat(depth)}${"]".repeat(depth)}`),
    "deep objects": () => after(`{"extra":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`),
    truncated: () => Buffer.from(text.slice(0, random.below(text.length))),
    "another text after it": () => Buffer.from(`${text}${random.pick(["{}", ",", "]", "x", "null"])}`),
    "bytes flipped": () => {
      const bytes = Buffer.from(text);
      for (let count = 0; count < 4; count++) bytes[random.below(bytes.length)]! ^= 0x80;
      return bytes;
    },
    "a byte-order mark": () => Buffer.from(`\ufeff${text}`),
    "no object": () => Buffer.from(random.pick(["[]", "null", "1", '"x"', `[${text}]`, "1e999", "-", "NaN"])),
    noise: () =>
      Buffer.from(Array.from({ length: random.between(1, 8) }, () => random.bytes32().slice(2)).join(""), "hex"),
  };
  const what = random.pick(Object.keys(makers));
  return [what, makers[what]!()];
}

function megabyte({ right }: Sample, random: Random): Buffer {
  const field = random.pick(Object.keys(right));
  return Buffer.from(JSON.stringify({ ...right, [field]: "9".repeat(MEGABYTE) }));
}

/** One invalid request. The same random numbers give the same request. */
export function mutate(samples: readonly Sample[], random: Random): FuzzRequest {
  const sample = random.pick(samples);
  const { path, right } = sample;
  const kind = random.below(100);
  if (kind === 0) return { path, what: "a megabyte", type: JSON_TYPE, body: megabyte(sample, random) };
  if (kind < 4) {
    const type = random.pick([undefined, ...OTHER_TYPES].map((each) => [each]))[0];
    return { path, what: `as ${type}`, type, body: Buffer.from(JSON.stringify(right)) };
  }
  if (kind < 20) {
    const [what, body] = textMutation(sample, random);
    return { path, what, type: JSON_TYPE, body };
  }
  for (;;) {
    const mutation = fieldMutation(sample, random);
    if (mutation === undefined) continue;
    const [what, body] = mutation;
    return { path, what, type: JSON_TYPE, body: Buffer.from(JSON.stringify(body)) };
  }
}
