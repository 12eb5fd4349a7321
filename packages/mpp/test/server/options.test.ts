import type { PaywallCore } from "@sotto/resource-server";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { type MppOptions, mpp } from "../../src/server.ts";
import { charge } from "../core/support/charge.ts";

const SECRET = "a-secret-that-only-this-test-knows";

/** Opens the method; its paywall is used only for requests. */
function open(options: unknown, changes: Partial<PaywallCore> = {}): unknown {
  const { binding, signature, service } = charge();
  const core = { origin: "https://data.example", binding, signature, service, clock: Date.now, ...changes };
  return mpp(options as MppOptions).open(core as PaywallCore);
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
    expectCode("INVALID_OPTION", () => open({ secret: SECRET }, { signature: `0x${"11".repeat(800)}` }));
    expect(open({ secret: SECRET }, { signature: `0x${"11".repeat(300)}` })).to.be.an("object");
  });
});
