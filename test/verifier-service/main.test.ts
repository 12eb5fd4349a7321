import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { parseDeployment } from "@sotto/protocol";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { call } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { artifacts, environment, openWorld } from "@sotto/test-world/service";
import { expect } from "chai";

const root = join(import.meta.dirname, "..", "..");
const program = join(root, "packages", "service", "dist", "main.js");

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe("the service as a program", function () {
  slow(this, "a chain, a service and proofs");
  let folder: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    folder = temporaryFolder("main");
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** @returns the first line on standard error, and the exit code or signal */
  const start = (
    settings: Record<string, string>,
  ): { line: Promise<string>; ended: Promise<Ended>; child: ChildProcess } => {
    const child = spawn(process.execPath, [program], { cwd: folder, env: { ...BASE_ENVIRONMENT, ...settings } });
    children.push(child);
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      output.stdout += String(chunk);
    });
    const ended = new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, ...output })));
    const line = new Promise<string>((resolve) => {
      child.stderr.on("data", (chunk) => {
        output.stderr += String(chunk);
        if (output.stderr.includes("\n")) resolve(output.stderr.split("\n")[0]!);
      });
      void ended.then(() => resolve(""));
    });
    return { line, ended, child };
  };

  it("has token keys that the documented command creates", async () => {
    const path = "packages/service/dist/token-key.js";
    expect(readFileSync(join(root, "docs", "operations-run.md"), "utf8")).to.contain("npm run -s token-key");
    expect(readFileSync(join(root, "scripts", "tasks.mjs"), "utf8")).to.match(
      new RegExp(`"token-key": \\[[^\\]]*"node ${path}"`),
    );
    const makeKey = (...args: string[]) => {
      const options = { cwd: folder, env: BASE_ENVIRONMENT, encoding: "utf8" } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, path), ...args], options);
      return { status, file: stdout.trim(), stderr };
    };
    const [first, other] = [makeKey(), makeKey("keys")];
    expect([first.status, other.status]).to.deep.equal([0, 0]);
    expect(first.file).to.match(/^\.sotto\/token-keys\/\d+T\d+Z\.json$/);
    expect(statSync(join(folder, first.file)).mode & 0o077).to.equal(0);
    const settings = { ...environment(await openWorld(), folder), SOTTO_TOKEN_KEYS: "keys" };
    const { line, child, ended } = start(settings);
    const url = /at (http:\S+\/zk):/.exec(await line)?.[1];
    const { keys } = (await call(`${url}/.well-known/jwks.json`)).body as { keys: { x: string }[] };
    const { x, d } = JSON.parse(readFileSync(join(folder, other.file), "utf8")) as { x: string; d: string };
    expect(keys.map((key) => key.x)).to.deep.equal([x]);
    expect(JSON.stringify(keys)).not.to.contain(d);
    child.kill("SIGTERM");
    await ended;
    const wrong = makeKey("--help");
    expect([wrong.status, wrong.stderr]).to.deep.equal([
      1,
      "sotto: INVALID_CONFIG: usage: npm run token-key [FOLDER]\n",
    ]);
  });

  it("prints its address, logs JSON, and stops on SIGTERM", async () => {
    const { line, ended, child } = start(environment(await openWorld(), folder));
    const said = await line;
    const url = /at (http:\S+\/zk): chain 31337, pool 0x[0-9a-f]{40}, development keys, relayer 0x[0-9a-f]{40}/.exec(
      said,
    )?.[1];
    expect((await call(`${url}/readyz`)).body["ready"]).to.equal(true);
    child.kill("SIGTERM");
    const { code, stdout, stderr } = await ended;
    expect(code).to.equal(0);
    expect(stderr).to.equal(`${said}\n`);
    const lines = stdout
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text) as { msg: string });
    expect(lines.map(({ msg }) => msg)).to.include.members(["request", "shutting down"]);
  });

  it("needs no settings on a local chain after deploy:local", async () => {
    const world = await openWorld();
    writeAtomically(join(folder, ".sotto", "deployment.json"), toJson(parseDeployment(world)));
    const places = { SOTTO_RPC_URLS: world.node.url, SOTTO_ARTIFACTS: artifacts, SOTTO_PORT: "0" };
    const { line, ended, child } = start(places);
    expect(await line).to.include(
      `pool ${world.pool}, development keys, relayer 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266`,
    );
    const [key = ""] = readdirSync(join(folder, ".sotto", "token-keys"));
    for (const path of [join("token-keys", key), "service.sqlite"])
      expect(statSync(join(folder, ".sotto", path)).mode & 0o777, path).to.equal(0o600);
    child.kill("SIGINT");
    expect((await ended).code).to.equal(0);
  });

  it("prints its commands if asked for help, and starts nothing", async () => {
    const { status, stdout } = spawnSync(process.execPath, [program, "--help"], { encoding: "utf8" });
    expect([status, stdout.split("\n")[0]]).to.deep.equal([0, "npm run service"]);
  });

  it("names every invalid variable in one line, and exits with 1", async () => {
    const { ended } = start({ SOTTO_PORT: "x", SOTTO_POOL: "0x12" });
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).to.deep.equal([1, ""]);
    expect(stderr).to.match(/^sotto: INVALID_CONFIG: .*SOTTO_PORT.*SOTTO_POOL.*SOTTO_CHAIN_ID.*\n$/);
  });

  it("reports invalid settings in one line", async () => {
    const settings = { ...environment(await openWorld(), folder), SOTTO_POOL: `0x${"12".repeat(20)}` };
    const { code, stderr } = await start(settings).ended;
    expect(code).to.equal(1);
    expect(stderr).to.match(/^sotto: POOL_MISSING: [^\n]+\n$/);
  });
});
