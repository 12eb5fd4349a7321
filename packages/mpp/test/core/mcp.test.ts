import { expect } from "chai";
import {
  challengesFromMcp,
  challengeToMcp,
  credentialFromMcp,
  credentialToMcp,
  type Json,
  parseCharge,
} from "../../src/index.ts";
import { challenge } from "./support/charge.ts";

describe("challenges and credentials of MPP in MCP", () => {
  const payload = { txSignature: "0x1" };

  it("are objects whose request is JSON, and read back unchanged", () => {
    const object = challengeToMcp(challenge());
    expect(object["request"]).to.include({ amount: "10000" });
    expect(challengesFromMcp({ challenges: [object] })).to.deep.equal([challenge()]);
    const credential = { challenge: challenge(), payload };
    expect(credentialFromMcp(JSON.parse(JSON.stringify(credentialToMcp(credential))))).to.deep.equal(credential);
    const reversed = Object.fromEntries(Object.entries(object["request"] as Json).reverse());
    const [read] = challengesFromMcp({ challenges: [{ ...object, request: reversed }] });
    expect(read, "the order of its keys does not matter").to.deep.equal(challenge());
    expect(parseCharge(read!.request).amount).to.equal(10_000n);
  });

  it("are left out or refused if they are malformed, deep, long or reach a prototype", () => {
    const object = challengeToMcp(challenge());
    const polluting = JSON.parse('{"__proto__":{"amount":"1"}}') as Json;
    const wrong: unknown[] = [
      null,
      "challenge",
      [],
      {},
      { ...object, id: "" },
      { ...object, id: "a\r\nb" },
      { ...object, request: "e30" },
      { ...object, request: JSON.parse(`${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`) },
      { ...object, realm: "r".repeat(40_000) },
      { ...object, opaque: {} },
      Object.create(object),
    ];
    expect(challengesFromMcp({ challenges: wrong })).to.deep.equal([]);
    expect(challengesFromMcp({ challenges: [...wrong, object] })).to.have.length(1);
    expect(challengesFromMcp({ challenges: Array<Json>(17).fill(object) }), "at most 16 are read").to.have.length(16);
    for (const data of [undefined, null, "x", { challenges: {} }, { challenges: polluting }])
      expect(challengesFromMcp(data)).to.deep.equal([]);
    for (const one of wrong)
      expect(() => credentialFromMcp({ challenge: one, payload }))
        .to.throw()
        .with.property("code", "MPP_CREDENTIAL_INVALID");
    for (const one of [undefined, null, "x", [], { challenge: object }, { challenge: object, payload: [] }])
      expect(() => credentialFromMcp(one))
        .to.throw()
        .with.property("code", "MPP_CREDENTIAL_INVALID");
    expect(Object.prototype).to.not.have.property("amount");
  });
});
