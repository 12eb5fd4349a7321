// The service as a program reads its settings again on SIGHUP.
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { environment, openService, openWorld, type World } from "@sotto/test-world/service";
import { type ServiceProcess, startProcess, stopProcess } from "@sotto/test-world/service-process";
import { addKey } from "@sotto/verifier-service";
import { expect } from "chai";

type Line = Readonly<Record<string, unknown>>;

describe("SIGHUP", function () {
  slow(this, "a chain, a service's process and proofs");
  let world: World;
  let folder: string;
  let file: string;
  let settings: Record<string, string>;
  let lines: Line[];
  let service: ServiceProcess;

  const write = (changes: Record<string, string> = {}) =>
    writeFileSync(
      file,
      Object.entries({ ...settings, ...changes })
        .map(([name, value]) => `${name}=${value}\n`)
        .join(""),
    );
  beforeEach(async () => {
    world = await openWorld();
    folder = temporaryFolder("reload");
    file = join(folder, "sotto.env");
    settings = environment(world, folder);
    lines = [];
    write();
    service = await startProcess({ SOTTO_SETTINGS_FILE: file }, (line) => void lines.push(JSON.parse(line)));
  });
  afterEach(() => stopProcess(service));

  /** Sends SIGHUP with these settings. @returns the line of the result */
  const reload = async (changes: Record<string, string> = {}): Promise<Line> => {
    write(changes);
    const known = lines.length;
    service.child.kill("SIGHUP");
    return eventually(async () => lines.slice(known).find(({ msg }) => String(msg).startsWith("settings were ")));
  };
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${new URL(service.url).origin}/metrics`)).text();
    return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1]);
  };
  const pay = async (url = service.url) => {
    const bundle = forgeBundle(world, { root: world.root });
    const { status, body } = await post(`${url}/verify`, bundle);
    return { status, body, settle: () => post(`${url}/settle`, settleRequest(bundle, body["paymentToken"])) };
  };

  it("changes limits, fees and levels, and names what changed and what needs a restart", async () => {
    const { changed, level } = await reload({
      SOTTO_RATE_LIMIT: "20",
      SOTTO_GAS_BUDGET: "2000000000000000000",
      SOTTO_MAX_FEE_PER_GAS: "900000000000",
      SOTTO_MAX_HELD: "7",
      SOTTO_LOG_LEVEL: "info,http=silent",
      SOTTO_PREPAID_QUOTA: "1",
      SOTTO_PORT: "1",
      SOTTO_STORE: "sqlite:elsewhere",
    });
    expect(level).to.equal(30);
    expect(changed).to.have.members([
      "SOTTO_RATE_LIMIT",
      "SOTTO_GAS_BUDGET",
      "SOTTO_MAX_FEE_PER_GAS",
      "SOTTO_MAX_HELD",
      "SOTTO_LOG_LEVEL",
      "SOTTO_PREPAID_QUOTA",
    ]);
    const restart = await eventually(async () => lines.find(({ code }) => code === "RESTART_NEEDED"));
    expect(restart["settings"]).to.have.members(["SOTTO_PORT", "SOTTO_STORE"]);
    expect(await metric("sotto_config_restart_needed")).to.equal(2);
    expect(await metric("sotto_relayer_gas_budget_wei")).to.equal(2e18);
    expect(await metric("sotto_settle_held_max")).to.equal(7);
    const before = lines.length;
    const statuses: number[] = [];
    for (let i = 0; i < 25; i++) statuses.push((await call(`${service.url}/circuits`)).status);
    expect(statuses.filter((status) => status === 429)).to.not.be.empty;
    expect(statuses.indexOf(429)).to.be.at.most(20);
    expect(lines.slice(before).filter(({ msg }) => msg === "request")).to.deep.equal([]);
    // Back to what the service began with: nothing needs a restart any more.
    expect(((await reload())["changed"] as string[]).length).to.equal(6);
    expect(await metric("sotto_config_restart_needed")).to.equal(0);
    expect((await call(`${service.url}/circuits`)).status).to.equal(200);
  });

  it("changes nothing if any value is wrong, and shows it", async () => {
    const success = () => metric("sotto_config_reload_success");
    const since = await metric("sotto_config_reload_success_timestamp_seconds");
    expect(await success()).to.equal(1);
    const other = await FaultyNode.start(world.node.url);
    closedAfterTest({ close: () => other.stop() });
    other.mode = "isOnAnotherChain";
    const secret = "http://127.0.0.1:1/v3/canary0key0of0the0node";
    const open = join(folder, "open");
    chmodSync(await addKey(open), 0o644);
    const wrong: [code: string, changes: Record<string, string>][] = [
      ["INVALID_CONFIG", { SOTTO_RATE_LIMIT: "0" }],
      ["INVALID_CONFIG", { SOTTO_LOG_LEVEL: "info,relayers=debug" }],
      ["INVALID_CONFIG", { SOTTO_CHAIN_ID: "x" }],
      ["INVALID_CONFIG", { SOTTO_NO_SETTING: "1" }],
      ["INVALID_CONFIG", { SOTTO_RPC_URLS: "canary" }],
      ["INVALID_RELAYER_OPTION", { SOTTO_GAS_BUDGET: "0" }],
      ["WRONG_CHAIN", { SOTTO_RPC_URLS: `${world.node.url},${other.url}` }],
      ["NODE_UNREACHABLE", { SOTTO_RPC_URLS: secret }],
      ["TOKEN_KEY_INVALID", { SOTTO_TOKEN_KEYS: open }],
    ];
    for (const [code, changes] of wrong) {
      const line = await reload({ ...changes, SOTTO_MAX_HELD: "7" });
      expect([line["code"], line["level"]], code).to.deep.equal([code, 50]);
      expect(await success(), code).to.equal(0);
      expect(await metric("sotto_settle_held_max"), code).to.equal(2_000);
    }
    writeFileSync(file, "canary: this is no settings file");
    service.child.kill("SIGHUP");
    await eventually(async () => lines.some((line) => JSON.stringify(line).includes("line 1 must be NAME=VALUE")));
    expect(JSON.stringify(lines)).to.not.include("canary");
    expect(await metric("sotto_config_reload_success_timestamp_seconds")).to.equal(since);
    const { status, settle } = await pay();
    expect([status, (await settle()).body["status"]]).to.deep.equal([200, "success"]);
    expect((await reload({ SOTTO_MAX_HELD: "7" }))["changed"]).to.deep.equal(["SOTTO_MAX_HELD"]);
    expect([await success(), await metric("sotto_settle_held_max")]).to.deep.equal([1, 7]);
  });

  it("keeps requests and held settlements, whose payments settle through the new nodes", async () => {
    const node = await FaultyNode.start(world.node.url);
    closedAfterTest({ close: () => node.stop() });
    await reload({ SOTTO_RPC_URLS: node.url });
    await world.provider.send("evm_setAutomine", [false]);
    try {
      const { settle } = await pay();
      const held = settle();
      await eventually(async () => (await metric("sotto_settle_held")) === 1);
      node.mode = "breaksOff";
      const { changed } = await reload({ SOTTO_RATE_LIMIT: "99999" });
      expect(changed).to.have.members(["SOTTO_RPC_URLS", "SOTTO_RATE_LIMIT"]);
      for (let i = 0; i < 5; i++) service.child.kill("SIGHUP");
      await eventually(async () => (await metric('sotto_operations\\{kind="payment",state="broadcast"\\}')) === 1);
      expect(await metric("sotto_settle_held")).to.equal(1);
      await world.provider.send("evm_setAutomine", [true]);
      await world.provider.send("hardhat_mine", []);
      expect((await held).body["status"]).to.equal("success");
    } finally {
      await world.provider.send("evm_setAutomine", [true]);
      await world.provider.send("hardhat_mine", []);
    }
  });

  it("uses a token key of another folder at once, and no other key any more", async () => {
    const keys = async () => {
      const { body } = await call(`${new URL(service.url).origin}/.well-known/jwks.json`);
      return (body["keys"] as { x: string }[]).map(({ x }) => x);
    };
    const [old] = await keys();
    const next = join(folder, "next");
    await addKey(next);
    expect((await reload({ SOTTO_TOKEN_KEYS: next }))["changed"]).to.deep.equal(["SOTTO_TOKEN_KEYS"]);
    const now = await keys();
    expect(now).to.have.length(1).and.not.include(old);
    const [name = ""] = readdirSync(next);
    chmodSync(join(next, name), 0o644);
    expect((await reload({ SOTTO_TOKEN_KEYS: next }))["code"]).to.equal("TOKEN_KEY_INVALID");
    expect((await pay()).status).to.equal(200);
  });

  it("warns of settings that the environment hides", async () => {
    await stopProcess(service);
    lines = [];
    write({ SOTTO_MAX_HELD: "7", SOTTO_PORT: "0" });
    service = await startProcess(
      { SOTTO_SETTINGS_FILE: file, SOTTO_MAX_HELD: "9", SOTTO_PORT: "0" },
      (line) => void lines.push(JSON.parse(line)),
    );
    const hidden = await eventually(async () => lines.find(({ code }) => code === "SETTINGS_HIDDEN"));
    expect(hidden["settings"]).to.deep.equal(["SOTTO_MAX_HELD"]);
    expect(await metric("sotto_settle_held_max")).to.equal(9);
  });
});

describe("a reload of an embedded service", function () {
  slow(this, "a chain and a service");

  it("is refused and logged if the program that embeds it cannot read the settings", async () => {
    const embedded = closedAfterTest(await openService());
    expect(
      await embedded.reload(() => {
        throw new Error("no settings");
      }),
    ).to.equal(false);
    const failed = embedded.logged.map((line) => JSON.parse(line) as Line).find(({ code }) => code === "UNEXPECTED");
    expect(failed?.["name"]).to.equal("reload");
  });
});
