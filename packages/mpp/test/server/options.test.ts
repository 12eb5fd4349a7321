import type { PaywallCore } from "@sotto/resource-server";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { parseCharge } from "../../src/index.ts";
import { createChallenges, type MppOptions, mpp } from "../../src/server.ts";
import { charge } from "../core/support/charge.ts";

const SECRET = "a-secret-that-only-this-test-knows";

/** Opens the method; its paywall is used only for requests. @param signatures of its addresses, bytes */
const open = (options: unknown, signatures?: readonly number[]): unknown =>
  mpp(options as MppOptions).open(coreOf(signatures));

function coreOf(signatures: readonly number[] = [65]): PaywallCore {
  const { binding, service } = charge();
  const addresses = signatures.map((bytes) => ({
    ...{ binding, signature: `0x${"11".repeat(bytes)}`, schedule: undefined },
  }));
  const core = { addresses, addressAt: () => addresses[0]!, acceptedAt: () => addresses };
  return { origin: "https://data.example", service, clock: Date.now, ...core } as Partial<PaywallCore> as PaywallCore;
}

describe("the options of mpp", () => {
  it("need a secret of at least 32 characters, or several", () => {
    for (const secret of [SECRET, [SECRET], [SECRET, `${SECRET}2`]]) expect(open({ secret })).to.be.an("object");
    for (const secret of [
      undefined,
      "",
      "short",
      "x".repeat(31),
      "x".repeat(257),
      `${SECRET} `,
      [],
      [SECRET, SECRET],
      [SECRET, 7],
    ])
      expectCode("INVALID_OPTION", () => open({ secret }));
    expectCode("INVALID_OPTION", () => open(undefined));
  });

  it("never name a secret in an error", () => {
    for (const secret of [`${SECRET} `, [SECRET, SECRET]])
      expect(() => open({ secret }))
        .to.throw()
        .with.property("message")
        .that.does.not.include(SECRET);
  });

  it("take a realm without the separator of the values that an id binds", () => {
    expect(open({ secret: SECRET, realm: "reports of data.example" })).to.be.an("object");
    for (const realm of ["", "a|b", "x".repeat(129), "caf\u00e9", "a\r\nb"])
      expectCode("INVALID_OPTION", () => open({ secret: SECRET, realm }));
    expectCode("INVALID_OPTION", () => open({ secret: SECRET, ream: "data.example" }));
  });

  it("take one of two headers", () => {
    for (const header of ["Authorization", "Payment-Authorization"])
      expect(open({ secret: SECRET, header })).to.be.an("object");
    expectCode("INVALID_OPTION", () => open({ secret: SECRET, header: "X-Other" }));
  });

  it("refuse a paywall whose challenges would not fit into a header", () => {
    expectCode("INVALID_OPTION", () => open({ secret: SECRET }, [65, 800]));
    expect(open({ secret: SECRET }, [300])).to.be.an("object");
  });
});

describe("the challenges of a transport without headers", () => {
  it("name the resource, also with a long signature", () => {
    const { asset, decimals } = charge();
    const resource = `https://data.example/mcp/tool/forecast?arguments=${"a".repeat(64)}`;
    // A wallet contract may sign with passkeys or for many owners.
    const challenges = createChallenges({ secret: SECRET }, coreOf([600]));
    const challenge = challenges.issue({ method: "POST", resource, price: 1n, asset, decimals, body: undefined });
    expect(parseCharge(challenge.request).resource).to.equal(resource);
  });
});
