import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { CuratorWorld, SECRET, SET } from "../support/curator-world.ts";

const PROGRAM = join(import.meta.dirname, "..", "..", "src", "curator", "main.ts");

describe("the command sotto-curator", function () {
  slow(this, "a process for each command");
  let world: CuratorWorld;
  let environment: Record<string, string>;

  beforeEach(async () => {
    world = new CuratorWorld();
    const { store } = world.curatorOptions();
    environment = {
      PATH: process.env["PATH"] ?? "",
      SOTTO_CHAIN_ID: "31337",
      SOTTO_POOL: SET.pool,
      SOTTO_ORIGIN_NAME: SET.name,
      SOTTO_ORIGIN_KEY: SECRET,
      SOTTO_ORIGIN_STORE: store,
    };
    const curator = await world.curator();
    await world.depositFrom(`0x${"a1".repeat(20)}`, await world.wallet(), [5_000n]);
    await world.round(curator);
  });
  afterEach(() => world.close());

  const run = (...values: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...values], {
      cwd: world.folder,
      env: environment,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };

  it("stores the verdict of a person, while the curator runs", () => {
    const { status, stdout } = run("refuse", "0");
    assert.deepEqual([status, JSON.parse(stdout)], [0, { leaf: 0, verdict: "refuse" }]);
  });

  it("ends with one line and its code if a leaf is no deposit, a setting is wrong, or the command is unknown", () => {
    const unknown = run("accept", "7");
    assert.deepEqual([unknown.status, unknown.stdout], [1, ""]);
    assert.match(unknown.stderr, /^sotto: ORIGIN_LEAF_UNKNOWN: no confirmed deposit has the leaf 7\n$/);
    environment["SOTTO_ORIGIN_NAME"] = "No!";
    const { status, stderr } = run();
    assert.equal(status, 1);
    assert.match(stderr, /^sotto: INVALID_CONFIG: SOTTO_ORIGIN_NAME must be .*\n$/);
    assert.notInclude(stderr, SECRET.slice(2));
    for (const words of [["acept", "0"], ["accept"], ["accept", "0", "1"], ["serve", "--port"], ["constructor"]]) {
      const refused = run(...words);
      assert.deepEqual([refused.status, refused.stdout], [1, ""], words.join(" "));
      assert.match(refused.stderr, /^sotto-curator \[command\]/);
    }
    const help = run("--help");
    assert.deepEqual([help.status, help.stderr], [0, ""]);
    assert.match(help.stdout, /^sotto-curator \[command\]/);
    environment["SOTTO_ORIGIN_NAMES"] = "x";
    assert.include(run().stderr, "SOTTO_ORIGIN_NAMES is not a setting of this program; see docs/origins.md");
  });
});
