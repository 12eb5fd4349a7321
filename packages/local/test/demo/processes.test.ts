import { anyRejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Cleanup } from "../../src/demo/processes.ts";

describe("the demo's cleanup", () => {
  it("runs every action in reverse order although one fails, and reports the failure", async () => {
    const done: string[] = [];
    const cleanup = new Cleanup();
    cleanup.add(async () => void done.push("first"));
    cleanup.add(() => Promise.reject(new Error("the database is gone")));
    cleanup.add(async () => void done.push("last"));
    expect((await anyRejection(cleanup.run())).message).to.equal("the database is gone");
    expect(done).to.deep.equal(["last", "first"]);
    await cleanup.run();
    expect(done).to.have.length(2);
  });
});
