import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readConfig, serveExtensions } from "@sotto/verifier-service";
import { expect } from "chai";
import { EXTENSIONS } from "../src/extensions.ts";

/** A store that the service wrote when it had no extensions, with one schedule of prepaid keys. */
const BEFORE = readFileSync(join(import.meta.dirname, "support", "store-0006.sql"), "utf8");
const NOW = Date.UTC(2026, 10, 22, 13);

describe("a store of a service without extensions", () => {
  it("opens with the extensions, which find their rows and counts", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-store-"));
    const path = join(folder, "service.sqlite");
    const database = new DatabaseSync(path);
    database.exec(BEFORE);
    const { wallet, origin, content } = database.prepare("select * from prepaid_schedules").get() as Record<
      string,
      string
    >;
    database.close();
    const settings = {
      SOTTO_CHAIN_ID: "31337",
      SOTTO_POOL: `0x${"5a".repeat(20)}`,
      SOTTO_RELAYER_KEY: `0x${"01".repeat(32)}`,
      SOTTO_STORE: `sqlite:${path}`,
      SOTTO_PREPAID_QUOTA: "1",
    };
    const { app, close } = await serveExtensions(readConfig(settings, EXTENSIONS), () => NOW);
    try {
      const query = { wallet: wallet!, origin: origin! };
      const answer = await app.inject({ method: "GET", url: "/prepaid/schedules", query });
      expect(answer.json()).to.deep.equal({
        schedules: [{ ...JSON.parse(content!), receivedAt: Date.UTC(2026, 10, 22, 12) / 1000 }],
      });
      const headers = { "content-type": "application/json" };
      const push = () => app.inject({ method: "POST", url: "/prepaid/schedules", headers, payload: content! });
      expect((await push()).json()).to.deep.equal({ accepted: 0, known: 1 });
    } finally {
      await close();
    }
    const after = new DatabaseSync(path);
    const migrations = after.prepare("select name from service_migration order by timestamp, name").all();
    after.close();
    expect(migrations.map(({ name }) => name)).to.deep.equal([
      "0001-initial",
      "0002-turns",
      "0003-rounds",
      "0004-listings",
      "0005-prepaid",
      "0006-roots",
      "0007-traces",
      "0008-rates",
      "origins-0001",
      "prepaid-0002",
    ]);
    rmSync(folder, { recursive: true });
  });
});
