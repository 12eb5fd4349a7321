import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { DEAD_CONFIG, DeadHome } from "../../../cli-kit/test/support/run.ts";
import { prepaidCommands } from "../../src/cli.ts";
import { encodeSchedule, type PrepaidSchedule } from "../../src/index.ts";
import { Keyring } from "../../src/server/keyring.ts";
import { PrepaidStore } from "../../src/server/store.ts";
import { createMerchant } from "../server/support/merchant.ts";

describe("sotto prepaid audit", function () {
  slow(this, "generates RSA keys");

  it("adds up a store without a secret, creates none, and ends with exit code 7 if it does not add up", async () => {
    const home = new DeadHome([prepaidCommands]);
    const pool = DEAD_CONFIG.pool as PrepaidSchedule["pool"];
    const { schedule } = await createMerchant({ pool });
    const file = home.write("schedule.json", JSON.stringify({ schedule: encodeSchedule(schedule) }));
    const path = join(home.folder, "tokens.sqlite");
    const run = (...args: string[]) => home.run(["prepaid", "audit", "--schedules", file, ...args]);
    const missing = await run("--store", `sqlite:${path}`);
    expect([missing.code, missing.stderr]).to.deep.equal([2, `sotto: FILE_UNREADABLE: ${path} does not exist\n`]);
    const store = await PrepaidStore.open({ url: `sqlite:${path}`, clock: Date.now, onError: () => undefined });
    const [key] = new Keyring([schedule], undefined).all;
    const pack = {
      key_id: key!.id,
      batch: `0x${"01".repeat(32)}`,
      count: 100,
      payment: "0x",
      signatures: new Uint8Array(),
    };
    await store.addPack(pack);
    await store.end();
    const json = JSON.parse((await run("--store", `sqlite:${path}`, "--json")).stdout);
    expect(json.problems).to.deep.equal([]);
    expect(json.keys).to.have.length(1);
    expect(json.keys[0].unspent).to.deep.equal({ amount: "100000", decimal: "0.1" });
    const text = await run("--store", `sqlite:${path}`);
    expect(text.stdout).to.include("everything adds up");

    // Tokens of a key that is in another schedule.
    const other = await createMerchant({ pool });
    const [unknown] = new Keyring([other.schedule], undefined).all;
    const changed = await PrepaidStore.open({ url: `sqlite:${path}`, clock: Date.now, onError: () => undefined });
    await changed.addPack({ ...pack, key_id: unknown!.id });
    await changed.end();
    const failed = await run("--store", `sqlite:${path}`, "--json");
    const problem = `the key ${unknown!.id} is in no schedule: 100 of its tokens were signed, 0 were spent`;
    expect(failed.code).to.equal(7);
    expect(JSON.parse(failed.stdout).problems).to.deep.equal([problem]);
    expect(JSON.parse(failed.stderr).error).to.include({
      code: "PREPAID_AUDIT_FAILED",
      message: `the store does not add up: ${problem}`,
    });
    writeFileSync(path, "not a database");
    expect((await run("--store", `sqlite:${path}`)).code).to.not.equal(0);
  });
});
