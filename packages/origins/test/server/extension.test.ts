// Origins as an extension of a service.
import type { ServiceCore } from "@sotto/server";
import { expect } from "chai";
import { Registry } from "prom-client";
import { originsExtension } from "../../src/service/extension.ts";

describe("the extension for origins", () => {
  it("asks for no condition of payments if no set is configured", async () => {
    const core = { settings: { origins: undefined }, database: () => ({}), metrics: new Registry(), clock: Date.now };
    const { admit } = await originsExtension.open(core as unknown as ServiceCore<never>);
    expect(admit).to.equal(undefined);
  });
});
