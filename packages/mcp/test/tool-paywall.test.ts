import { expectRejected } from "@sotto/test-kit/rejection";
import { createToolPaywall, type ToolPaywallOptions } from "../src/paid-tool.ts";

describe("the paywall of tools", () => {
  it("refuses the options of HTTP and of single tools, which it would replace", async () => {
    for (const name of ["price", "routes", "free", "page", "cors", "methods"])
      await expectRejected("MCP_OPTION_INVALID", () =>
        createToolPaywall({ [name]: [] } as unknown as ToolPaywallOptions),
      );
  });
});
