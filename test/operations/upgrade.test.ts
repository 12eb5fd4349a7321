// What docs/operations-upgrade.md says about a database that a newer version has migrated.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { environment, openWorld } from "@sotto/test-world/service";
import { startProcess, stopProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";
import { ROOT } from "./support/page.ts";

describe("a database that a newer version has migrated", function () {
  slow(this, "a chain and processes of the service");

  it("is used by a running replica, and refused at its next start with the line of the page", async () => {
    const world = await openWorld();
    const folder = temporaryFolder("upgrade");
    const settings = environment(world, folder);
    const running = await startProcess(settings);
    closedAfterTest({ close: () => stopProcess(running) });
    const database = new DatabaseSync(join(folder, "store.sqlite"));
    database.exec("pragma busy_timeout = 20000");
    database.exec("insert into service_migration (name, timestamp) values ('0007-newer', '2026-11-30')");
    database.close();
    const bundle = forgeBundle(world, { root: world.root });
    const { body } = await post(`${running.url}/verify`, bundle);
    const settled = await post(`${running.url}/settle`, settleRequest(bundle, body["paymentToken"]));
    expect(settled.body["status"]).to.equal("success");
    await stopProcess(running);
    const refused = await startProcess(settings).catch((error: unknown) => String(error));
    const page = readFileSync(join(ROOT, "docs", "operations-upgrade.md"), "utf8");
    const line = /^```\n(sotto: STORE_TOO_NEW: .*)\n```$/m.exec(page)?.[1];
    expect(refused).to.equal(`Error: the service ended:\n${line}`);
  });
});
