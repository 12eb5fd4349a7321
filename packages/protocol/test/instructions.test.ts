import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import {
  bindingOfInstructions,
  buildInstructions,
  type InstructionsOptions,
  MAX_URL_LENGTH,
  parseInstructions,
  parseOffers,
  requestId,
  verifyBindingSignature,
} from "../src/index.ts";
import { binding, sign } from "./support/binding.ts";
import { instructions, options, signature } from "./support/instructions.ts";
import { replaced } from "./support/wrong-values.ts";

const CODE = "INSTRUCTIONS_INVALID";

describe("payment instructions", () => {
  it("are the body of a 402, field by field", () => {
    const { requestId: id, ...metadata } = instructions.metadata;
    expect(id).to.match(/^zk_req_1800000000123_[0-9A-Za-z]{16}$/);
    expect({ ...instructions, metadata }).to.deep.equal({
      status: 402,
      message: "Payment Required",
      protocol: "x402",
      privacy: "zero-knowledge",
      payment: {
        method: "service-zk",
        recipient: {
          phone: "+14155550100",
          wallet: binding.wallet,
          encryptedMapping: true,
          shieldedAddress: binding.key,
          signature,
          issuedAt: 1_800_000_000,
          service: "https://phones.example/zk",
        },
        amount: 0.1,
        amountBaseUnits: "100000",
        currency: "USDC",
        asset: options.asset,
        decimals: 6,
        chainId: "31337",
        pool: binding.pool,
        privacy: { amountEncryption: "elgamal", senderPrivacy: "zero-knowledge", proofSystem: "groth16" },
        zkProof: {
          required: true,
          circuitUrl: "https://pay.example/zk/circuits",
          provingKeyUrl: "https://pay.example/zk/proving-key",
          expectedPublicInputs: ["recipientAddress", "resourceUrl", "encryptedAmount"],
          maxHeaderLength: 8192,
        },
        verifyEndpoint: "https://pay.example/zk/verify",
        settleEndpoint: "https://pay.example/zk/settle",
      },
      metadata: { timestamp: 1_800_000_000_123, resource: options.resource },
    });
  });

  it("may name the schedule that lists the recipient's address, which is not an offer", () => {
    const schedule = { path: "/.well-known/sotto/addresses", digest: `0x${"ab".repeat(32)}` };
    const body = buildInstructions({ ...options, schedule });
    expect(body.payment.schedule).to.deep.equal(schedule);
    expect(parseInstructions(JSON.parse(JSON.stringify(body))).payment).to.deep.equal(body.payment);
    expect([...parseOffers(body)]).to.deep.equal([]);
    const more = replaced(body, ["payment", "schedule", "extra"], 1);
    expect(parseInstructions(more).payment.schedule, "unknown fields").to.deep.equal(schedule);
    expect(instructions.payment).to.not.have.property("schedule");
    for (const wrong of [null, 5, "x", [], {}, { ...schedule, path: "x" }, { ...schedule, digest: "0x" }])
      expectCode(CODE, () => parseInstructions(replaced(instructions, ["payment", "schedule"], wrong)));
  });

  it("offer other ways to pay as JSON of any form, in order", () => {
    const offers = { credit: { account: "a", tiers: [1, { at: 2 }] }, coupon: null, "pass-2": "x".repeat(4094) };
    const body = JSON.parse(JSON.stringify({ ...instructions, payment: { ...instructions.payment, ...offers } }));
    expect([...parseOffers(body)]).to.deep.equal(Object.entries(offers));
    expect(parseInstructions(body), "unknown to the private payment").to.deep.equal(instructions);
    expect(parseOffers(instructions).size, "the control").to.equal(0);
  });

  it("offer nothing that is too large, too deep, badly named or reaches a prototype", () => {
    const payment = JSON.stringify(instructions.payment).slice(0, -1);
    const offered = (json: string) => [...parseOffers({ payment: JSON.parse(`${payment},${json}}`) }).keys()];
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    const refused = [
      `"long":"${"x".repeat(4095)}"`,
      `"deep":${nested(9)}`,
      `"deep":${nested(20_000)}`,
      `"__proto__":{"polluted":true}`,
      `"constructor":1`,
      `"prototype":1`,
      `"inside":{"a":[{"__proto__":{"polluted":true}}]}`,
      `"inside":{"constructor":{"prototype":{"polluted":true}}}`,
      `"":1`,
      `"Upper":1`,
      `"with space":1`,
      `"toolong${"x".repeat(32)}":1`,
      `"recipient":{"wallet":"0x00"}`,
    ];
    for (const json of refused)
      expect(offered(`${json},"good":${nested(8)}`), json.slice(0, 60)).to.deep.equal(["good"]);
    const many = Array.from({ length: 1000 }, (_, i) => `"offer${i}":${i}`).join(",");
    expect(offered(many)).to.deep.equal(Array.from({ length: 16 }, (_, i) => `offer${i}`));
    expect(({} as { polluted?: true }).polluted).to.equal(undefined);
    for (const json of [null, 5, "x", [], {}, { payment: null }, { payment: [] }])
      expectCode(CODE, () => parseOffers(json));
  });

  it("survive a JSON round trip, without unknown fields", () => {
    expect(parseInstructions(JSON.parse(JSON.stringify(instructions)))).to.deep.equal(instructions);
    const more = replaced(replaced(instructions, ["extra"], 1), ["payment", "recipient", "extra"], { a: 1 });
    expect(parseInstructions(more)).to.deep.equal(instructions);
  });

  it("contain the wallet's signature of its shielded address, for this chain and pool", async () => {
    const read = bindingOfInstructions(instructions);
    expect(read).to.deep.equal(binding);
    const noChain = async () => "";
    expect(await verifyBindingSignature(read, instructions.payment.recipient.signature, noChain)).to.equal(true);
    for (const junk of [null, {}, { payment: 5 }, { payment: {} }, { payment: { recipient: {} } }])
      expectCode(CODE, () => bindingOfInstructions(junk as never));
  });

  it("have an empty string if there is no phone number", async () => {
    const nameless = { ...binding, phone: "", service: "" };
    const body = buildInstructions({ ...options, binding: nameless, signature: await sign(nameless) });
    expect(body.payment.recipient).to.include({ phone: "", service: "", encryptedMapping: false });
    expect(bindingOfInstructions(body)).to.deep.equal(nameless);
  });

  it("ignore a trailing slash of the base URL", () => {
    const { payment } = buildInstructions({ ...options, serviceUrl: "https://pay.example/zk//" });
    expect(payment.verifyEndpoint).to.equal("https://pay.example/zk/verify");
  });

  it("have a fresh id each time", () => {
    const ids = Array.from({ length: 1000 }, () => requestId(5));
    expect(new Set(ids).size).to.equal(1000);
    for (const id of ids) expect(id).to.match(/^zk_req_5_[0-9A-Za-z]{16}$/);
    for (const bad of [-1, Number.NaN, 0.5, 1e17]) expectCode("INVALID_INTEGER", () => requestId(bad));
  });

  it("are not built from invalid options", () => {
    const bad: Partial<Record<keyof InstructionsOptions, unknown>>[] = [
      { price: 0n },
      { price: -1n },
      { price: 1n << 64n },
      { price: 0.1 },
      { price: (1n << 64n) - 1n },
      { decimals: 19 },
      { decimals: -1 },
      { asset: "0x" },
      { serviceUrl: "pay.example" },
      { resource: "/report" },
      { resource: `https://data.example/${"a".repeat(MAX_URL_LENGTH)}` },
      { signature: "0x" },
      { now: Number.NaN },
      { binding: { ...binding, issuedAt: 1 } },
      { binding: undefined },
      { encryptedMapping: "yes" },
    ];
    for (const change of bad)
      expectCode(CODE, () => buildInstructions({ ...options, ...change } as InstructionsOptions));
    for (const junk of [null, undefined, 5]) expectCode(CODE, () => buildInstructions(junk as never));
  });
});
