// The commands of the pages for operators, docs/operations*.md: a test runs each of them.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { Web3Signer } from "@sotto/test-kit/web3-signer";
import { environment, openWorld } from "@sotto/test-world/service";
import { startProcess, stopProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";
import { Wallet } from "ethers";
import { blocksOf, commandsOf, ROOT, runAll, runLater } from "./support/page.ts";

/** The test or its support that runs each block, below test/. */
const RUN_BY: Readonly<Record<string, string>> = {
  "operations.md: Start it": "operations/pages.test.ts",
  "operations.md: Start it 2": "operations/pages.test.ts",
  "operations.md: Change settings without a restart": "operations/pages.test.ts",
  "operations.md: With systemd": "operations/systemd.test.ts",
  "operations-run.md: Keys": "operations/pages.test.ts",
  "operations-run.md: A remote signer": "operations/pages.test.ts",
  "operations-watch.md: Metrics": "operations/pages.test.ts",
  "operations-scale.md: With Docker Compose": "operations/compose.test.ts",
  "operations-scale.md: With Docker Compose 2": "operations/compose.test.ts",
  "operations-backup.md: Back up": "operations/support/stores.ts",
  "operations-backup.md: Back up 2": "operations/support/stores.ts",
  "operations-backup.md: Back up 3": "operations/compose.test.ts",
  "operations-backup.md: Restore": "operations/support/stores.ts",
  "operations-backup.md: Restore 2": "operations/support/stores.ts",
  "operations-backup.md: Restore 3": "operations/compose.test.ts",
  "operations-upgrade.md: One by one": "operations/compose.test.ts",
  "operations-upgrade.md: One by one 2": "operations/compose.test.ts",
  "operations-upgrade.md: All at once": "operations/compose.test.ts",
  "operations-upgrade.md: With systemd": "operations/systemd.test.ts",
};

describe("the commands of the operations pages", function () {
  slow(this, "a chain and a process of the service");

  it("are each run by a test that names them", () => {
    const pages = globSync("docs/operations*.md", { cwd: ROOT }).map((path) => basename(path));
    expect(pages.flatMap(blocksOf).map(({ name }) => name)).to.have.members(Object.keys(RUN_BY));
    for (const [name, file] of Object.entries(RUN_BY)) {
      // Without the table above, which has every name.
      const text = readFileSync(join(ROOT, "test", file), "utf8").replace(/^const RUN_BY\b.*?^\};$/ms, "");
      expect(text, file).to.contain(`"${name}"`);
    }
    // A block that is not marked as one with commands would be left out.
    for (const page of pages)
      expect(readFileSync(join(ROOT, "docs", page), "utf8"), page).to.not.match(/^```(?:sh|bash)?\n\$ /m);
  });

  it("start a chain, a pool and the service with scripts of the checkout", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
    const commands = commandsOf("operations.md: Start it");
    expect(commands).to.have.length(3);
    // test/e2e and test/verifier-service/main.test.ts run what these scripts start.
    expect(Object.keys(scripts)).to.include.members(commands.map((line) => line.replace("pnpm ", "")));
  });

  it("create a token key", () => {
    expect(commandsOf("operations-run.md: Keys")).to.deep.equal(["npm run -s token-key"]);
    const folder = temporaryFolder("token-key");
    const created = runAll([`node ${join(ROOT, "packages", "service", "dist", "token-key.js")}`], folder, {});
    expect(created).to.match(/^\.sotto\/token-keys\/\d+T\d+Z\.json\n$/);
  });

  it("reload settings", async () => {
    const folder = temporaryFolder("settings");
    const [show = "", start = "", reload = ""] = commandsOf("operations.md: Change settings without a restart");
    const file = join(folder, "service.env");
    const settings = { ...environment(await openWorld(), folder), SOTTO_GAS_BUDGET: "" };
    writeFileSync(file, "SOTTO_GAS_BUDGET=1000000000000000000\n");
    const here = (line: string) =>
      line.replaceAll("/etc/sotto/service.env", file).replace("packages/", `${ROOT}/packages/`);
    const said = (text: string) => `until grep -q '${text}' output; do kill -0 %1; sleep 0.1; done`;
    const started = [here(start).replace(" &", " > output 2>&1 &"), said("sotto service at")];
    const changed = ["echo SOTTO_GAS_BUDGET=2000000000000000000 > service.env", here(show), reload];
    const ended = [said("settings were reloaded"), "kill %1", "wait %1", "cat output"];
    const output = runAll([...started, ...changed, ...ended], folder, settings);
    expect(output).to.match(/^SOTTO_GAS_BUDGET=2000000000000000000\n/);
    expect(output).to.contain('"changed":["SOTTO_GAS_BUDGET"],"msg":"settings were reloaded"');
  });

  it("ask a remote signer for its accounts", async () => {
    const fixtures = join(ROOT, "packages", "verifier-service", "test", "signer", "fixtures");
    const [ca, cert, key] = ["ca.pem", "signer.pem", "signer-key.pem"].map((name) =>
      readFileSync(join(fixtures, name)),
    );
    const account = Wallet.createRandom();
    const tls = { ca: ca!, cert: cert!, key: key!, requestCert: true, rejectUnauthorized: true };
    const signer = closedAfterTest(await Web3Signer.start([account.privateKey], { tls }));
    const [ask = ""] = commandsOf("operations-run.md: A remote signer");
    const files: Record<string, string> = { "signer-ca": "ca", service: "client", "service-key": "client-key" };
    const here = ask
      .replace("signer.internal:9000", `localhost:${signer.port}`)
      .replaceAll(/ ([\w-]+)\.pem/g, (_, name: string) => ` ${join(fixtures, files[name]!)}.pem`);
    const answered = await runLater([here], temporaryFolder("signer"), {});
    expect(JSON.parse(answered)).to.deep.equal({ jsonrpc: "2.0", id: 1, result: [account.address.toLowerCase()] });
  });

  it("show whether the service is ready, and its metrics", async () => {
    const folder = temporaryFolder("pages");
    const running = await startProcess({ ...environment(await openWorld(), folder), SOTTO_METRICS_PORT: "0" });
    closedAfterTest({ close: () => stopProcess(running) });
    const [service, metrics] = [running.url, running.metricsUrl].map((url) => new URL(url).host);
    const here = (line: string) => line.replace("127.0.0.1:8402", service!).replace("127.0.0.1:9402", metrics!);
    const run = (lines: readonly string[]) => runAll(lines.map(here), folder, {});
    const [ready = "", ...more] = commandsOf("operations.md: Start it 2");
    expect(more).to.deep.equal([]);
    expect(JSON.parse(run([ready]))).to.deep.include({ ready: true });
    const [start, ...scrape] = commandsOf("operations-watch.md: Metrics");
    expect(start).to.equal("SOTTO_METRICS_PORT=9402 npm run -s service &");
    expect(run(scrape)).to.match(/^sotto_node_paused\{node="0",host="[\w.:]+"\} 0\nsotto_ready 1\n$/);
  });
});
