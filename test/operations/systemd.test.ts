// packages/service/systemd/sotto.service: its form, and the installed program with its settings, without systemd.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseDeployment } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { artifacts, environment, openWorld } from "@sotto/test-world/service";
import { startProcess, stopProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { DEFAULTS, readUnit, UNIT_PATH } from "./support/deployment.ts";
import { commandsOf, isInstalled, ROOT, runAll } from "./support/page.ts";

/** The exposure that systemd-analyze computes, of 10: what is left are the network, V8's compiler and /proc. */
const MAX_EXPOSURE = 1.5;

describe("the unit of systemd", function () {
  slow(this, "a chain and an installed program");
  const lines = readUnit();
  const valuesOf = (name: string) => lines.filter(([each]) => each === name).map(([, value]) => value);
  const variables = Object.fromEntries(
    valuesOf("Environment").map((value) => value.split("=") as [name: string, value: string]),
  );
  const credentials = valuesOf("LoadCredential").map((value) => value.split(":") as [name: string, path: string]);
  const numberIn = (name: string) => Number.parseInt(valuesOf(name)[0] ?? "", 10);

  it("is accepted by systemd-analyze where that is installed, as one of little exposure", () => {
    if (!isInstalled("systemd-analyze")) return;
    const verified = spawnSync("systemd-analyze", ["verify", UNIT_PATH], { encoding: "utf8" });
    // It also complains about a program that is not installed on this machine.
    const complaints = verified.stderr
      .split("\n")
      .filter((line) => line.includes("sotto.service") && !line.includes("/usr/bin/node"));
    expect(complaints).to.deep.equal([]);
    const threshold = `--threshold=${MAX_EXPOSURE * 10}`;
    const { status, stdout } = spawnSync("systemd-analyze", ["security", "--offline=yes", threshold, UNIT_PATH], {
      encoding: "utf8",
    });
    expect(status, stdout).to.equal(0);
  });

  it("sets only existing settings, secrets only as credentials, and waits longer than a shutdown takes", () => {
    const names = Object.keys(variables).filter((name) => name !== "NODE_ENV");
    for (const name of names)
      expect(DEFAULTS.has(name) || DEFAULTS.has(name.replace(/_FILE$/, "")), name).to.equal(true);
    const files = names
      .filter((name) => name.endsWith("_FILE") && name !== "SOTTO_SETTINGS_FILE")
      .map((name) => variables[name]);
    expect(files).to.have.members(credentials.map(([name]) => `%d/${name}`));
    for (const [name, path] of credentials) expect(path).to.equal(`/etc/sotto/secrets/${name}`);
    expect(numberIn("TimeoutStopSec") * 1000).to.be.greaterThan(Number(DEFAULTS.get("SOTTO_SHUTDOWN_MS")));
    expect(numberIn("LimitNOFILE")).to.be.greaterThan(2 * Number(DEFAULTS.get("SOTTO_MAX_HELD")));
  });

  it("runs the program that the pages install and upgrade, which settles a payment, and refuses development keys in production", async () => {
    const world = await openWorld();
    const folder = temporaryFolder("systemd");
    const [install = "", circuits = "", unit, ...start] = commandsOf("operations.md: With systemd");
    expect(circuits).to.equal(`cp -r circuits/build ${variables["SOTTO_ARTIFACTS"]}`);
    expect(unit).to.equal("cp packages/service/systemd/sotto.service /etc/systemd/system/");
    expect(start.every((line) => /^(?:systemctl|journalctl) /.test(line))).to.equal(true);
    const runHere = (commands: readonly string[]) => {
      // Everything is in the store of pnpm, from which the checkout was installed.
      const here = commands.map((line) =>
        line.replace("--legacy", "--legacy --offline").replaceAll("/opt/sotto", folder),
      );
      runAll(here, ROOT, { ...process.env, CI: "true" } as Record<string, string>);
    };
    runHere([install, circuits]);
    const old = join(folder, "service", "old");
    writeFileSync(old, "");
    // The second time, there is an old version to remove.
    for (let upgrade = 1; upgrade <= 2; upgrade += 1)
      runHere(
        commandsOf("operations-upgrade.md: With systemd").filter((line) => !/^systemctl |\/etc\/systemd/.test(line)),
      );
    expect(existsSync(old)).to.equal(false);
    for (const part of ["circuits", "old/circuits"])
      expect(readdirSync(join(folder, part)), part).to.not.include("build");
    const [, main = ""] = /^\/usr\/bin\/node \/opt\/sotto\/(.*)$/.exec(valuesOf("ExecStart")[0]!) ?? [];

    const secrets = join(folder, "credentials");
    mkdirSync(secrets);
    const { SOTTO_RELAYER_KEY, SOTTO_STORE, ...others } = environment(world, folder);
    const tokenKey = execFileSync(
      process.execPath,
      [join(folder, "service", "dist", "token-key.js"), join(folder, "keys")],
      {
        encoding: "utf8",
      },
    );
    const contents: Record<string, string> = {
      "rpc-urls": world.node.url,
      "relayer-key": SOTTO_RELAYER_KEY!,
      "token-key": readFileSync(tokenKey.trim(), "utf8"),
      store: SOTTO_STORE!,
    };
    for (const [name] of credentials) {
      writeFileSync(join(secrets, name), contents[name]!);
      chmodSync(join(secrets, name), 0o400);
    }
    const manifest = join(folder, "deployment.json");
    writeFileSync(manifest, JSON.stringify(parseDeployment(world)));
    const { SOTTO_APPEND_AFTER_MS, SOTTO_VERIFY_WORKERS } = others;
    const file = join(folder, "service.env");
    writeFileSync(
      file,
      `SOTTO_PORT=0\nSOTTO_APPEND_AFTER_MS=${SOTTO_APPEND_AFTER_MS}\nSOTTO_VERIFY_WORKERS=${SOTTO_VERIFY_WORKERS}\n`,
    );
    const set = Object.entries(variables).map(([name, value]) => [name, value.replace("%d", secrets)]);
    const { NODE_ENV, ...settings } = {
      ...Object.fromEntries(set),
      SOTTO_ARTIFACTS: artifacts,
      SOTTO_DEPLOYMENT: manifest,
      SOTTO_SETTINGS_FILE: file,
    } as Record<string, string>;

    const run = (more: Record<string, string> = {}) =>
      startProcess({ ...settings, ...more }, undefined, undefined, join(folder, main));
    const running = await run();
    closedAfterTest({ close: () => stopProcess(running) });
    const bundle = forgeBundle(world, { root: world.root });
    const { body } = await post(`${running.url}/verify`, bundle);
    const settled = await post(`${running.url}/settle`, settleRequest(bundle, body["paymentToken"]));
    expect(settled.body["status"], JSON.stringify(settled.body)).to.equal("success");
    await stopProcess(running);
    // Another account than the public one of the local chain, which production refuses first.
    const account = join(secrets, "account");
    writeFileSync(account, Account.createRandom().privateKey, { mode: 0o400 });
    const refused = await run({ SOTTO_RELAYER_KEY_FILE: account, NODE_ENV: NODE_ENV! }).catch((error: unknown) =>
      String(error),
    );
    expect(refused).to.match(/^Error: the service ended:\nsotto: DEVELOPMENT_KEYS_REFUSED: /);
  });
});
