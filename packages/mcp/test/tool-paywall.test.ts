import { expectRejected } from "@sotto/test-kit/rejection";
import { createToolPaywall, type ToolPaywallOptions } from "../src/paid-tool.ts";

describe("the paywall of tools", () => {
  it("refuses the options of HTTP and of single tools, which it would replace", async () => {
    for (const name of ["price", "routes", "free", "page", "cors"])
      await expectRejected("MCP_OPTION_INVALID", () =>
        createToolPaywall({ [name]: [] } as unknown as ToolPaywallOptions),
      );
  });

  it("refuses methods together with MPP's format, which has no place for their offers", async () => {
    const options = { mpp: { secret: "a-secret-of-thirty-two-characters" }, methods: [{}] };
    await expectRejected("MCP_OPTION_INVALID", () => createToolPaywall(options as unknown as ToolPaywallOptions));
  });
});
