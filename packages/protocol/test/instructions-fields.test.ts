import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { type PaymentInstructions, parseInstructions } from "../src/index.ts";
import { binding } from "./support/binding.ts";
import { instructions } from "./support/instructions.ts";
import { leaves, type Path, replaced, WRONG } from "./support/wrong-values.ts";

const CODE = "INSTRUCTIONS_INVALID";

describe("payment instructions with a wrong field", () => {
  const may: Record<string, readonly unknown[]> = {
    "payment.recipient.phone": [""],
    "payment.recipient.service": [""],
    "payment.recipient.signature": ["0x1e"],
    // This field is optional, because servers of other projects do not send it.
    "payment.zkProof.maxHeaderLength": [undefined],
    message: [" ", "NaN", "-1", "1e3", "0x", "0x1e", "__proto__", "constructor", "١٢٣"],
  };
  for (const path of leaves(instructions)) {
    const name = path.join(".");
    it(`are rejected: ${name}`, () => {
      for (const value of WRONG) {
        if (may[name]?.includes(value)) continue;
        expectCode(CODE, () => parseInstructions(replaced(instructions, path, value)));
      }
      expect(parseInstructions(replaced(instructions, path, valueAt(path))), "the control").to.deep.equal(instructions);
    });
  }
  const valueAt = (path: Path) =>
    path.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], instructions);

  it("are rejected with missing or wrong parts", () => {
    const parts: Path[] = [
      ["payment"],
      ["payment", "recipient"],
      ["payment", "privacy"],
      ["payment", "zkProof"],
      ["payment", "zkProof", "expectedPublicInputs"],
      ["metadata"],
    ];
    for (const path of parts)
      for (const value of [...WRONG, "x", 5, true, [{}]])
        expectCode(CODE, () => parseInstructions(replaced(instructions, path, value)));
    for (const value of [...WRONG, "x", 5, true, () => 1]) expectCode(CODE, () => parseInstructions(value));
  });

  const texts: [string, Path, readonly unknown[]][] = [
    ["another status", ["status"], [401, "402", 402.5]],
    ["another protocol", ["protocol"], ["X402", "x402 "]],
    ["another method", ["payment", "method"], ["service-zk2", "service"]],
    ["another currency", ["payment", "currency"], ["usdc", "EUR"]],
    ["a message that is too long or holds controls", ["message"], ["a".repeat(257), "a\nb", "a\u202eb", "\u007f"]],
    [
      "a URL that is none",
      ["payment", "verifyEndpoint"],
      [
        "/verify",
        "javascript:alert(1)",
        "file:///etc",
        "https://a b",
        "https://a\n",
        "https://",
        "HTTPS://a",
        `https://${"a".repeat(2048)}`,
      ],
    ],
    [
      "a resource with other characters",
      ["metadata", "resource"],
      ["https://data.example/ä", "https://data.example/\u0000"],
    ],
    [
      "a request id of another form",
      ["metadata", "requestId"],
      [
        "zk_req_1_",
        "zk_req__a",
        "zk_req_1_a-b",
        "zk_req_1_a\n",
        `zk_req_1_${"a".repeat(65)}`,
        `zk_req_${"1".repeat(17)}_a`,
        "req_1_a",
      ],
    ],
    ["a time beyond all dates", ["metadata", "timestamp"], [8_640_000_000_000_001, 1.5, "1800000000123"]],
    [
      "a chain id of another form",
      ["payment", "chainId"],
      [31337, "031337", "+1", "1".repeat(79), `${1n << 256n}`, "0x7a69"],
    ],
    ["a pool of another form", ["payment", "pool"], [`${binding.pool}0`, binding.pool.slice(2)]],
    [
      "a phone number of another form",
      ["payment", "recipient", "phone"],
      ["+", "14155550100", "+0155555", "+1 415 555 0100"],
    ],
    [
      "an address nobody can be paid at",
      ["payment", "recipient", "shieldedAddress"],
      [`0x${"ff".repeat(64)}`, `0x${"00".repeat(64)}`],
    ],
    ["a signature of another form", ["payment", "recipient", "signature"], ["0x0", `0x${"00".repeat(8193)}`, 5]],
    ["a date between slots", ["payment", "recipient", "issuedAt"], [1, 1_800_000_001, "1800000000"]],
    [
      "other public inputs",
      ["payment", "zkProof", "expectedPublicInputs"],
      [["recipientAddress", "resourceUrl"], ["resourceUrl", "recipientAddress", "encryptedAmount"], "recipientAddress"],
    ],
  ];
  for (const [what, path, values] of texts) {
    it(`are rejected: ${what}`, () => {
      for (const value of values) expectCode(CODE, () => parseInstructions(replaced(instructions, path, value)));
    });
  }

  it("read no fields from a prototype, and pollute no prototype", () => {
    expectCode(CODE, () => parseInstructions(Object.create(instructions)));
    const { status: _, ...rest } = instructions;
    expectCode(CODE, () => parseInstructions(Object.assign(Object.create({ status: 402 }), rest)));
    const text = JSON.stringify(instructions).replace(
      "{",
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},',
    );
    const read: PaymentInstructions = parseInstructions(JSON.parse(text));
    expect(read).to.deep.equal(instructions);
    expect(({} as Record<string, unknown>)["polluted"]).to.equal(undefined);
    expect((read as unknown as Record<string, unknown>)["polluted"]).to.equal(undefined);
  });

  it("use the last of duplicate fields, as JSON does, for checks and values alike", () => {
    const twice = JSON.stringify(instructions).replace('"amount":0.1', '"amount":0.2,"amount":0.1');
    expect(parseInstructions(JSON.parse(twice))).to.deep.equal(instructions);
    const other = JSON.stringify(instructions).replace('"amount":0.1', '"amount":0.1,"amount":0.2');
    expectCode(CODE, () => parseInstructions(JSON.parse(other)));
  });
});
