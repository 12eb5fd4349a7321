import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import type { Crash } from "./support/crash-process.ts";
import { overWorlds } from "./support/suite.ts";
import { slot, type World, wallet } from "./support/world.ts";

const PHONE = "+14155550100";
const SCRIPT = join(import.meta.dirname, "support", "crash-process.ts");

/**
 * The points at which the process is killed, as shares of its queries: in the middle and near the end of its
 * transaction.
 */
const POINTS = [0.4, 0.85];

/** @returns the signal that ended the process, or null if it completed the operation */
async function run(crash: Crash): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(crash)], { stdio: ["ignore", "ignore", "inherit"] });
  const [code, signal] = await once(child, "close");
  if (code !== 0 && signal === null) throw new Error(`the process ended with ${code}`);
  return signal;
}

overWorlds("a phone registry that is killed,", EVERY_DATABASE, (newWorld) => {
  let world: World;
  let queries = 0;
  beforeEach(async () => {
    world = await newWorld({
      limits: { codes: { number: [], linked: [], wallet: [], client: [], total: [] } },
      onWork(kind) {
        if (kind === "query") queries += 1;
      },
    });
  });

  const crashOf = (operation: Crash["operation"], request: Crash["request"], digest: string): Omit<Crash, "at"> => {
    const hex = (keys: typeof world.options.keys.master) =>
      keys.map((one) => ({ id: one.id, hex: Buffer.from(one.key).toString("hex") }));
    const { master, index } = world.options.keys;
    const keys = { master: hex(master), index: hex(index) };
    return { store: world.options.store, keys, now: world.now, issuedAt: slot(), operation, request, digest };
  };
  /** The number of queries that an operation makes when it runs in this process. */
  const queriesOf = async (operation: () => Promise<unknown>) => {
    queries = 0;
    await operation();
    return queries;
  };
  const counts = async () => {
    const raw = await world.raw();
    const tables = ["phone_mappings", "phone_heads", "phone_codes", "phone_once"] as const;
    const all = [];
    for (const table of tables) all.push((await raw.db.selectFrom(table).selectAll().execute()).length);
    return all;
  };

  it("during linking leaves a link or none, and the same request sends a code", async () => {
    const request = world.request(PHONE, 1);
    const crash = crashOf("link", { ...request }, "0x01");
    const most = await queriesOf(() => world.registry.link(request));
    await world.registry.erase({ phone: PHONE, client: "operator" });
    expect(most).to.be.greaterThan(8);
    for (const at of [...POINTS.map((part) => Math.ceil(part * most)), "send"] as const) {
      expect(await run({ ...crash, at })).to.equal("SIGKILL");
      // Either the link with its head and code is stored, or nothing.
      const [mappings, heads, codes, once] = await counts();
      expect([heads, codes, once]).to.deep.equal([mappings, mappings, 0]);
      if (at === "send") expect(mappings).to.equal(1);
      await world.registry.check();
      const { remaining } = await world.registry.link(request);
      expect(remaining[0]?.step).to.equal("enter-code");
      const proof = { phone: PHONE, wallet: wallet(1), code: world.lastCode(PHONE), client: "typed" };
      expect((await world.registry.verify(proof)).mapping.verified).to.equal(true);
      await world.registry.erase({ phone: PHONE, client: "operator" });
      const raw = await world.raw();
      await raw.db.deleteFrom("phone_once").execute();
    }
  });

  it("during verification counts the attempt together with its outcome", async () => {
    /** Links the number. @returns the request that proves it */
    const linked = async () => {
      await world.registry.link(world.request(PHONE, 1));
      return { phone: PHONE, wallet: wallet(1), code: world.lastCode(PHONE), client: "typed" };
    };
    const first = await linked();
    const most = await queriesOf(() => world.registry.verify(first));
    for (const at of POINTS.map((part) => Math.ceil(part * most))) {
      await world.registry.erase({ phone: PHONE, client: "operator" });
      const raw = await world.raw();
      await raw.db.deleteFrom("phone_once").execute();
      const proof = await linked();
      expect(await run({ ...crashOf("verify", proof, ""), at })).to.equal("SIGKILL");
      const seen = await world.registry.resolve({ phone: PHONE, client: "payer" });
      expect(await counts()).to.deep.equal(seen?.verified ? [1, 1, 0, 1] : [1, 1, 1, 0]);
      await world.registry.check();
      if (!seen?.verified) await world.registry.verify(proof);
      expect((await world.registry.resolve({ phone: PHONE, client: "payer" }))?.verified).to.equal(true);
    }
  });
});
