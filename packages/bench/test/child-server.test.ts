import { anyRejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { startServer } from "../src/inputs/child-server.ts";

describe("servers of benches", () => {
  it("rejects if the process ends before it has started", async () => {
    // This file is no server.
    const error = await anyRejection(startServer("metered-rule.ts", {}));
    expect(error.message).to.equal("metered-rule.ts exited while starting");
  });
});
