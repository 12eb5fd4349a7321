// Almost valid X-Payment-Proof headers for the fuzz test. Every header is invalid, so the server must not serve any of
// the requests.
import { BASE_FIELD_MODULUS, FIELD_MODULUS } from "@sotto/protocol";
import { fieldMutation } from "@sotto/test-kit/mutations";
import type { Random } from "@sotto/test-kit/random";

export type HeaderFields = Readonly<Record<string, unknown>>;

export interface WrongHeader {
  /** What was changed. */
  readonly what: string;
  /** One value, or several if the header is repeated; encoded as Latin-1. */
  readonly values: readonly string[];
}

/** Fields that a header may omit. */
const OPTIONAL = ["senderCommitment", "amountPublicSignals", "resourceUrl"];
/** Fields that are equal in all payments to one merchant for one resource. */
const SAME = ["recipientPublicKey", "resourceUrl"];
const HASH = /^0x[0-9a-f]{64}$/;
const UNSIGNED = ["none", "None", "HS256", "ES256", "RS256"];

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** JSON that an HTTP client can send; the client refuses to send an unescaped DEL. */
const text = (fields: unknown): string => JSON.stringify(fields).replaceAll("\u007f", "\\u007f");

type Make = (right: HeaderFields, other: HeaderFields, random: Random) => readonly string[];

function retoken(right: HeaderFields, change: (parts: [string, string, string]) => readonly string[]): string[] {
  const [head = "", payload = "", signature = ""] = String(right["paymentToken"]).split(".");
  return [text({ ...right, paymentToken: change([head, payload, signature]).join(".") })];
}

const decoded = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, "base64url").toString());

const TOKENS: Readonly<Record<string, Make>> = {
  "token's parts swapped": (right, _other, random) =>
    retoken(right, ([a, b, c]) =>
      random.pick([
        [b, a, c],
        [a, c, b],
        [c, b, a],
      ]),
    ),
  "a part of another payment's token": (right, other, random) => {
    const others = String(other["paymentToken"]).split(".");
    const at = random.pick([1, 2]);
    return retoken(right, (parts) => parts.with(at, others[at]!));
  },
  "token of another payment": (right, other) => [text({ ...right, paymentToken: other["paymentToken"] })],
  "token without a signature": (right, _other, random) =>
    retoken(right, ([head, payload]) => random.pick([[head, payload], [head, payload, ""], [head]])),
  "token of another algorithm": (right, _other, random) =>
    retoken(right, ([head, payload, signature]) => [
      base64({ ...decoded(head), alg: random.pick(UNSIGNED) }),
      payload,
      random.pick([signature, "", "AA"]),
    ]),
  "token with its own key": (right) =>
    retoken(right, ([head, payload, signature]) => [
      base64({ ...decoded(head), jwk: { kty: "OKP", crv: "Ed25519", x: "A".repeat(43) }, jku: "http://127.0.0.1:1/" }),
      payload,
      signature,
    ]),
  "token's claim changed": (right, _other, random) =>
    retoken(right, ([head, payload, signature]) => {
      const claims = decoded(payload);
      const name = random.pick(Object.keys(claims));
      return [
        head,
        base64({ ...claims, [name]: random.pick([null, "", 0, "0", [], `${String(claims[name])}0`]) }),
        signature,
      ];
    }),
};

const TEXTS: Readonly<Record<string, Make>> = {
  truncated: (right, _other, random) => {
    const whole = text(right);
    return [whole.slice(0, random.below(whole.length - 1) + 1)];
  },
  "something after it": (right, _other, random) => [
    `${text(right)}${random.pick(["{}", ",", "]", "x", "null", "\\"])}`,
  ],
  "no object": (right, _other, random) => [
    random.pick(["[]", "null", "1", "42", '"x"', "true", "1e999", "-", "NaN", "undefined", `[${text(right)}]`, "{}"]),
  ],
  empty: () => [""],
  "the same twice": (right) => [text(right), text(right)],
  "two of them": (right, other) => [text(right), text(other)],
  "one that comes in two halves": (right, _other, random) => {
    const whole = text(right);
    const at = whole.indexOf(",", random.below(whole.length - 200));
    return [whole.slice(0, at), whole.slice(at + 1)];
  },
  "too long": (right, _other, random) => [text({ ...right, pad: "x".repeat(random.between(8192, 12_000)) })],
  "deep nesting": (right, _other, random) => {
    const depth = random.pick([100, 1000, 2000]);
    return [`{"proof":${"[".repeat(depth)}${"]".repeat(depth)},${text(right).slice(1).replace('"proof"', '"other"')}`];
  },
  "not ASCII": (right, _other, random) => {
    const whole = text(right);
    const at = random.below(whole.length);
    return [
      `${whole.slice(0, at)}${random.pick(["\u00e9", "\u00a0", "\u00ff", "\u00ef\u00bb\u00bf"])}${whole.slice(at)}`,
    ];
  },
  "a proof of another payment": (right, other) => [
    text({ ...other, ...pickFields(right, ["proof", "publicSignals"]) }),
  ],
  "a proof of nothing": (right, _other, random) => {
    const words = Array.from({ length: 8 }, () => "0");
    return [text({ ...right, [random.pick(["proof", "amountProof"])]: words })];
  },
  "a point off its curve": (right, _other, random) => {
    const name = random.pick(["proof", "amountProof"]);
    const words = right[name] as string[];
    const at = random.below(8);
    return [text({ ...right, [name]: words.with(at, String((BigInt(words[at]!) + 1n) % BASE_FIELD_MODULUS)) })];
  },
  "a word beyond its field": (right, _other, random) => {
    const name = random.pick(["proof", "amountProof", "publicSignals"]);
    const words = right[name] as string[];
    const at = random.below(words.length);
    const order = name === "publicSignals" ? FIELD_MODULUS : BASE_FIELD_MODULUS;
    return [text({ ...right, [name]: words.with(at, String(BigInt(words[at]!) + order)) })];
  },
  "a ciphertext of bad points": (right, _other, random) => {
    const all = (byte: string) => `0x${byte.repeat(64)}`;
    const one = `01${"00".repeat(31)}`;
    return [text({ ...right, encryptedAmount: random.pick([all("00"), all("ff"), `0x${one}${one}`]) })];
  },
};

const pickFields = (fields: HeaderFields, names: readonly string[]): HeaderFields =>
  Object.fromEntries(names.map((name) => [name, fields[name]]));

/** One invalid header. The same random numbers give the same header. */
export function wrongHeader(right: HeaderFields, other: HeaderFields, random: Random): WrongHeader {
  const kind = random.below(10);
  const table = kind < 3 ? TOKENS : kind < 6 ? TEXTS : undefined;
  if (table !== undefined) {
    const what = random.pick(Object.keys(table));
    return { what, values: table[what]!(right, other, random) };
  }
  for (;;) {
    const mutation = fieldMutation({ path: "", right, other, optional: OPTIONAL, same: SAME }, random);
    if (mutation === undefined) continue;
    const [what, fields] = mutation;
    // Another transaction hash is not invalid, because anyone may settle a payment.
    const { txSignature } = fields as HeaderFields;
    if (what.startsWith("txSignature") && typeof txSignature === "string" && HASH.test(txSignature)) continue;
    return { what, values: [text(fields)] };
  }
}
