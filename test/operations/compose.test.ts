// compose.yaml: its form, and the same processes with the same settings without containers.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseDeployment, paymentSignals } from "@sotto/protocol";
import { freePort } from "@sotto/server";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { artifacts, environment, openService, openWorld, type World } from "@sotto/test-world/service";
import { type ServiceProcess, startProcess, stopProcess } from "@sotto/test-world/service-process";
import { Ajv } from "ajv";
import { expect } from "chai";
import { COMPOSE_PATH, type ComposeService, composeText, DEFAULTS, readCompose } from "./support/deployment.ts";
import { commandsOf, ROOT, runAll } from "./support/page.ts";
import { openPostgres } from "./support/postgres.ts";
import { type RunningProxy, startProxy } from "./support/proxy.ts";
import { settlementsOf } from "./support/settlements.ts";

const compose = readCompose();
const services = Object.entries(compose.services);
const REPLICAS = ["service-a", "service-b"] as const;
const BACKUP = join(ROOT, "packages", "service", "compose", "backup.sh");
const seconds = (time: string | undefined): number => Number(/^(\d+)s$/.exec(String(time))?.[1]);

describe("compose.yaml", () => {
  /** Schema of https://github.com/compose-spec/compose-spec at 170098b, under Apache-2.0. */
  const published = readFileSync(join(import.meta.dirname, "support", "compose-spec.json"), "utf8");
  // Ajv knows draft 7 only by its http: URL, and this schema names the https: one.
  const { $schema: _, ...schema } = JSON.parse(published) as { $schema: string };
  const text = composeText();
  /** The comment at its beginning, which names what an operator provides. */
  const head = text.slice(0, text.indexOf("\nx-"));

  it("has the form of the Compose specification", () => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    expect(validate(compose), JSON.stringify(validate.errors)).to.equal(true);
    // The control.
    expect(validate({ services: { proxy: { mem_limits: "1g" } } })).to.equal(false);
  });

  it("names each variable, secret and folder that it needs at its beginning, and mounts only files that exist", () => {
    for (const [, name = ""] of text.matchAll(/\$\{([A-Z_]+)/g))
      expect(head, name).to.match(new RegExp(`\\b${name}\\b`));
    for (const [name, { file }] of Object.entries(compose.secrets)) {
      expect(file).to.equal(`./secrets/${name}`);
      expect(head).to.match(new RegExp(`^# {3}secrets/${name} `, "m"));
    }
    for (const [name, { file }] of Object.entries(compose.configs))
      if (name !== "deployment") expect(existsSync(join(ROOT, file)), file).to.equal(true);
    const used = (of: (service: ComposeService) => readonly string[]) =>
      new Set(services.flatMap(([, each]) => of(each)));
    expect([...used(({ secrets = [] }) => secrets)]).to.have.members(Object.keys(compose.secrets));
    const configs = used(({ configs = [] }) => configs.map(({ source }) => source));
    expect([...configs]).to.have.members(Object.keys(compose.configs));
  });

  it("pins every image by a digest that the operator chooses", () => {
    for (const [name, { image, build }] of services)
      if (build === undefined) expect(image, name).to.match(/^[a-z]+:[\w.-]+@\$\{[A-Z]+_DIGEST:\?.*\}$/);
      else expect(build.args["NODE_DIGEST"]).to.match(/^\$\{NODE_DIGEST:\?/);
    const dockerfile = readFileSync(join(ROOT, "packages/service/Dockerfile"), "utf8");
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map((match) => match[1]);
    expect(images).to.have.length(2);
    for (const image of images) expect(image).to.match(/^node:24-bookworm-slim@\$\{NODE_DIGEST\}$/);
    expect(dockerfile).to.match(/^ARG NODE_DIGEST$/m);
    const { packageManager } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      packageManager: string;
    };
    expect(dockerfile.match(/npm install --global (\S+)/)?.[1]).to.equal(packageManager);
  });

  it("limits the memory and the logs of every container, checks all but the proxy, and starts them again", () => {
    for (const [name, service] of services) {
      expect(service.mem_limit, name).to.match(/^\d+[mg]$/);
      expect(service.logging, name).to.deep.equal({ driver: "local", options: { "max-size": "50m", "max-file": "5" } });
      expect(service.restart, name).to.equal("unless-stopped");
      expect(service.security_opt, name).to.deep.equal(["no-new-privileges:true"]);
      if (name !== "proxy") expect(service.healthcheck?.test, name).to.be.an("array");
    }
  });

  it("gives every container but the database a read-only file system, a /tmp in memory and the user of the secrets", () => {
    for (const [name, service] of services.filter(([name]) => name !== "database")) {
      expect(service.read_only, name).to.equal(true);
      expect(service.cap_drop, name).to.deep.equal(["ALL"]);
      expect(service.tmpfs, name).to.deep.equal(["/tmp:size=64m,mode=1777"]);
      expect(service.user, name).to.match(/^\$\{SOTTO_USER:\?/);
    }
  });

  it("sets only existing settings, and sets the published address itself", () => {
    for (const path of ["packages/service/Dockerfile", "compose.yaml"]) {
      const set = readFileSync(join(ROOT, path), "utf8")
        .replaceAll(/^\s*#.*$/gm, "")
        .replaceAll("SOTTO_USER", "");
      const named = [...set.matchAll(/SOTTO_[A-Z_]+/g)].map((match) => match[0].replace(/(?<!SETTINGS)_FILE$/, ""));
      expect(named, path).to.not.deep.equal([]);
      expect(named.filter((name) => !DEFAULTS.has(name))).to.deep.equal([]);
    }
    for (const replica of REPLICAS) {
      expect(compose.services[replica]?.volumes).to.deep.equal(["./settings:/run/settings:ro"]);
      expect(compose.services[replica]?.environment?.["SOTTO_PORT"]).to.equal("8402");
      const [kind, ...command] = compose.services[replica]!.healthcheck!.test;
      expect([kind, ...command.slice(0, 2)]).to.deep.equal(["CMD", "node", "-e"]);
      expect(command[2]).to.contain('"http://127.0.0.1:8402/readyz"');
    }
  });

  it("lets the replicas trust the proxy's address, and only that", () => {
    const networks = compose.services["proxy"]?.networks as Record<string, { ipv4_address: string }>;
    const address = networks["inside"]!.ipv4_address;
    const { subnet, ip_range: others } = compose.networks.inside.ipam.config[0]!;
    const [start = "", bits] = subnet.split("/");
    expect(bits).to.equal("24");
    const prefix = start.replace(/0$/, "");
    expect(address.startsWith(prefix)).to.equal(true);
    // Docker gives the proxy's address to no other container.
    expect(others).to.equal(`${prefix}128/25`);
    expect(Number(address.slice(prefix.length))).to.be.lessThan(128);
    for (const replica of REPLICAS)
      expect(compose.services[replica]?.environment?.["SOTTO_TRUST_PROXY"]).to.equal(address);
    expect(compose.networks.database.internal).to.equal(true);
    // Only the proxy is reachable from other machines.
    for (const [name, { ports = [] }] of services)
      for (const port of ports) expect(port.startsWith("127.0.0.1:"), name).to.equal(name !== "proxy");
  });

  it("waits longer than a settlement is held and than a replica shuts down, and can hold as many requests", () => {
    const proxy = readFileSync(join(ROOT, "packages/service/compose/haproxy.cfg"), "utf8");
    for (const side of ["client", "server"]) {
      const [, time] = new RegExp(`^ {2}timeout ${side} (\\S+)$`, "m").exec(proxy) ?? [];
      expect(seconds(time)).to.equal(300);
    }
    for (const replica of REPLICAS) {
      const { stop_grace_period: grace, ulimits } = compose.services[replica]!;
      expect(seconds(grace)).to.be.greaterThan(Number(DEFAULTS.get("SOTTO_SHUTDOWN_MS")) / 1000);
      expect(ulimits?.nofile).to.be.greaterThan(2 * Number(DEFAULTS.get("SOTTO_MAX_HELD")));
    }
  });

  it("has the services and commands that the pages name", () => {
    const docker = [
      "operations-scale.md: With Docker Compose 2",
      "operations-backup.md: Back up 3",
      "operations-backup.md: Restore 3",
      "operations-upgrade.md: One by one",
      "operations-upgrade.md: One by one 2",
      "operations-upgrade.md: All at once",
    ].flatMap(commandsOf);
    expect(docker).to.have.length(12);
    for (const line of docker) {
      const [, command, rest = ""] = /^docker compose (build|up|stop|ps|run --rm)(?: (.*))?$/.exec(line) ?? [];
      expect(command, line).to.be.a("string");
      const words = rest.split(" ").filter((word) => word !== "" && !word.startsWith("--"));
      const named = command === "run --rm" ? words.slice(0, 1) : words;
      for (const name of named) expect(Object.keys(compose.services), line).to.include(name);
    }
    const config = spawnSync("docker", ["compose", "version"]);
    if (config.error !== undefined || config.status !== 0) return;
    // Where Compose is installed, it reads the file itself.
    const digest = `sha256:${"0".repeat(64)}`;
    const variables = { SOTTO_USER: "1:1", SOTTO_DEPLOYMENT: "x.json", SOTTO_PUBLIC_URL: "https://pay.example/zk" };
    const digests = { NODE_DIGEST: digest, HAPROXY_DIGEST: digest, POSTGRES_DIGEST: digest };
    execFileSync("docker", ["compose", "-f", COMPOSE_PATH, "config", "--quiet", "--no-env-resolution"], {
      env: { ...process.env, ...variables, ...digests },
    });
  });
});

describe("the processes of compose.yaml", function () {
  slow(this, "a chain, a database, replicas and a proxy");
  let world: World;
  let folder: string;
  before(async () => {
    world = await openWorld();
    folder = temporaryFolder("compose");
    const lines = commandsOf("operations-scale.md: With Docker Compose");
    const tokenKey = `node ${join(ROOT, "packages", "service", "dist", "token-key.js")}`;
    runAll(
      lines.map((line) => line.replace("npm run -s token-key --", tokenKey)),
      folder,
      {},
    );
  });

  it("get secrets that only their owner can read, from the commands of the page", () => {
    const files = readdirSync(join(folder, "secrets"));
    expect(files).to.have.members(["database", "store", "token-key"]);
    for (const file of files) expect(statSync(join(folder, "secrets", file)).mode & 0o777, file).to.equal(0o400);
    expect(statSync(join(folder, "backups")).mode & 0o777).to.equal(0o700);
    const [store, password] = ["store", "database"].map((name) =>
      readFileSync(join(folder, "secrets", name), "utf8").trim(),
    );
    expect(store).to.equal(`postgres://sotto:${password}@database/sotto`);
    // What the page starts with them is below.
    expect(commandsOf("operations-scale.md: With Docker Compose 2")[0]).to.equal("docker compose up --detach --wait");
  });

  it("settle every payment once while a replica stops, one is killed, and both come back", async () => {
    const postgres = await openPostgres();
    closedAfterTest({ close: () => postgres.stop() });
    const ports = [await freePort("127.0.0.1"), await freePort("127.0.0.1")] as const;
    const logged: string[] = [];
    const secrets = provideSecrets(world, folder, postgres.url("sotto"));
    const start = (replica: number) =>
      startProcess(replicaEnvironment(REPLICAS[replica]!, secrets, ports[replica]!), (line) => logged.push(line));
    const running: ServiceProcess[] = [await start(0), await start(1)];
    closedAfterTest({ close: () => Promise.all(running.map(stopProcess)) });
    expect(healthOf(ports[0])).to.equal(0);
    expect(healthOf(await freePort("127.0.0.1"))).to.equal(1);
    const proxy = await startProxy([`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`]);
    closedAfterTest({ close: () => proxy.stop() });

    const settled: string[] = [];
    let paying = true;
    const lane = async () => {
      while (paying) settled.push(await pay(world, proxy));
    };
    const lanes = Promise.all([lane(), lane()]);
    const more = async () => {
      const before = settled.length;
      // The payments that were under way, and others after them.
      await eventually(async () => settled.length >= before + 3);
    };
    const trouble = async () => {
      await more();
      await stopProcess(running[0]!);
      await more();
      running[0] = await start(0);
      running[1]!.child.kill("SIGKILL");
      await running[1]!.ended;
      await more();
      running[1] = await start(1);
      await more();
    };
    await Promise.all([trouble().finally(() => (paying = false)), lanes]);
    expect(settled.length).to.be.at.least(12);
    for (const nullifier of settled) expect(await settlementsOf(world, nullifier)).to.have.length(1);
    expect(logged.filter((line) => line.includes("FORWARDED_FOR_IGNORED"))).to.deep.equal([]);
    // The mounted settings are read again.
    const file = secrets["settings"]!;
    writeFileSync(file, readFileSync(file, "utf8").replace("99999", "99998"));
    running[0]!.child.kill("SIGHUP");
    await eventually(async () => logged.some((line) => /"changed":\["SOTTO_RATE_LIMIT"\]/.test(line)));
  });

  it("hide metrics behind the proxy, and ignore the address that a client claims", async () => {
    const settings = { SOTTO_RATE_LIMIT: "5", SOTTO_TRUST_PROXY: "127.0.0.1" };
    const service = closedAfterTest(await openService(settings));
    const address = new URL(service.origin).host;
    const claims = [...Array(12).keys()].map((index) => ({ "x-forwarded-for": `203.0.113.${index}` }));
    // The control: sent from the proxy's address, a claim counts.
    for (const headers of claims) expect((await fetch(`${service.url}/circuits`, { headers })).status).to.equal(200);
    const proxy = await startProxy([address, address]);
    closedAfterTest({ close: () => proxy.stop() });
    if (!proxy.real) return;
    expect((await proxy.ask("/metrics")).status).to.equal(404);
    expect((await proxy.ask("/.well-known/jwks.json")).status).to.equal(200);
    const statuses: number[] = [];
    for (const headers of claims) statuses.push((await proxy.ask("/zk/circuits", undefined, headers)).status);
    expect(statuses).to.include(200).and.to.include(429);
  });

  it("answer with their own error through the proxy if none is ready", async () => {
    const service = closedAfterTest(await openService({ SOTTO_LEAST_BALANCE: String(10n ** 30n) }));
    const address = new URL(service.origin).host;
    const proxy = await startProxy([address, address]);
    closedAfterTest({ close: () => proxy.stop() });
    const ready = await proxy.ask("/zk/readyz");
    expect([ready.status, ready.body["cause"]]).to.deep.equal([503, "relayer"]);
    const refused = await proxy.ask("/zk/verify", forgeBundle(world, { root: world.root }));
    expect([refused.status, refused.body["code"]]).to.deep.equal([503, "RELAYER_BALANCE_LOW"]);
  });

  it("back up and restore their database, unless a replica is connected", async () => {
    const postgres = await openPostgres();
    closedAfterTest({ close: () => postgres.stop() });
    const { BACKUPS: _, ...variables } = compose.services["backup"]!.environment!;
    expect(compose.services["backup"]!.entrypoint).to.deep.equal(["sh", "/etc/sotto/backup.sh"]);
    const backups = join(temporaryFolder("backups"));
    const password = join(folder, "password");
    writeFileSync(password, `${postgres.variables["PGPASSWORD"]}\n`);
    // `daily` ends where it would wait.
    const programs = temporaryFolder("programs");
    writeFileSync(join(programs, "sleep"), "#!/bin/sh\nexit 7\n", { mode: 0o755 });
    const backUp = (...args: string[]) =>
      spawnSync("sh", [BACKUP, ...args], {
        env: {
          ...variables,
          ...postgres.variables,
          PATH: `${programs}:${postgres.variables["PATH"]}`,
          PGPASSWORD: "",
          PGPASSWORD_FILE: password,
          BACKUPS: backups,
          BACKUPS_KEPT: "2",
        },
        encoding: "utf8",
      });
    const dumps = () => readdirSync(backups).sort();
    expect(backUp("unknown").status).to.equal(2);
    expect(backUp("check").status).to.equal(1);
    if (!postgres.hasTools) return;
    const [now, restore] = ["operations-backup.md: Back up 3", "operations-backup.md: Restore 3"].map((name) =>
      commandsOf(name).flatMap((line) => /^docker compose run --rm backup (.+)$/.exec(line)?.[1] ?? []),
    );
    expect(now).to.deep.equal(["now"]);
    expect(restore![0]).to.match(/^restore sotto-\d{8}T\d{6}Z\.dump$/);

    const settings = { ...environment(world, folder), SOTTO_STORE: postgres.url("sotto") };
    const running = await startProcess(settings);
    closedAfterTest({ close: () => stopProcess(running) });
    const count = async () => {
      const client = await postgres.query(
        "select datname from pg_database where datname like 'sotto%' order by datname",
      );
      return client.rows.map(({ datname }) => String(datname));
    };
    // The container starts again, on the day of the newest backup and on the next one.
    const newest = join(backups, "sotto-20260101T000000Z.dump");
    writeFileSync(newest, "");
    for (const [hours, backedUp] of [
      [0, 1],
      [23.9, 1],
      [24.1, 2],
    ] as const) {
      const time = new Date(Date.now() - hours * 3_600_000);
      utimesSync(newest, time, time);
      expect([backUp("daily").status, dumps().length], `${hours} h`).to.deep.equal([7, backedUp]);
    }
    for (const each of dumps()) rmSync(join(backups, each));
    const first = backUp("now");
    expect(first.status, first.stderr).to.equal(0);
    const [dump = ""] = dumps();
    expect(first.stdout).to.equal(`backed up: ${dump}\n`);
    expect(statSync(join(backups, dump)).mode & 0o777).to.equal(0o600);
    expect(backUp("check").status).to.equal(0);
    // A replica is connected.
    const refused = backUp("restore", dump);
    expect(refused.status).to.not.equal(0);
    expect(refused.stderr).to.contain("is being accessed by other users");
    await stopProcess(running);
    const restored = backUp("restore", dump);
    expect(restored.status, restored.stderr).to.equal(0);
    expect(restored.stdout).to.match(
      new RegExp(`^restored: ${dump}; the database before it is now sotto-\\d{8}T\\d{6}Z\n$`),
    );
    expect(await count())
      .to.have.length(2)
      .and.to.include("sotto");
    // A backup that fails leaves no file with the name of a backup, and removes none.
    for (const day of ["20260101T000000Z", "20260102T000000Z"]) writeFileSync(join(backups, `sotto-${day}.dump`), "");
    await postgres.query("alter database sotto rename to elsewhere");
    expect(backUp("now").status).to.not.equal(0);
    expect(dumps()).to.have.length(3);
    await postgres.query("alter database elsewhere rename to sotto");
    expect(backUp("now").status).to.equal(0);
    expect(dumps()).to.have.length(2).and.to.include(dump);
    expect(backUp("restore", "sotto-20200101T000000Z.dump").status).to.not.equal(0);
  });
});

/** The secrets of compose.yaml as files, beside those that the page's commands have made. @returns paths by name */
function provideSecrets(world: World, folder: string, store: string): Readonly<Record<string, string>> {
  const { SOTTO_RELAYER_KEY } = environment(world, folder);
  const contents = { "rpc-urls": world.node.url, "relayer-key": SOTTO_RELAYER_KEY!, store };
  const paths = Object.keys(compose.secrets).map((name) => [name, join(folder, "secrets", name)] as const);
  for (const [name, content] of Object.entries(contents)) {
    const path = join(folder, "secrets", name);
    if (existsSync(path)) chmodSync(path, 0o600);
    writeFileSync(path, `${content}\n`, { mode: 0o400 });
  }
  const deployment = join(folder, "deployment.json");
  writeFileSync(deployment, JSON.stringify(parseDeployment(world)));
  const settings = join(folder, "settings", "service.env");
  const { SOTTO_APPEND_AFTER_MS, SOTTO_VERIFY_WORKERS } = environment(world, folder);
  writeFileSync(
    settings,
    `SOTTO_APPEND_AFTER_MS=${SOTTO_APPEND_AFTER_MS}\nSOTTO_VERIFY_WORKERS=${SOTTO_VERIFY_WORKERS}\nSOTTO_RATE_LIMIT=99999\n`,
  );
  return { ...Object.fromEntries(paths), deployment, settings };
}

/** The settings of a replica, with the paths and addresses of this machine in place of the container's. */
function replicaEnvironment(name: string, secrets: Readonly<Record<string, string>>, port: number) {
  const set = Object.entries(compose.services[name]!.environment!).map(([variable, value]) => [
    variable,
    value
      .replace(/^\/run\/secrets\//, "")
      .replace("/run/deployment.json", "deployment")
      .replace("/run/settings/service.env", "settings")
      .replace("0.0.0.0", "127.0.0.1"),
  ]);
  const here = Object.fromEntries(set.map(([variable, value]) => [variable!, secrets[value!] ?? value!]));
  return {
    ...here,
    SOTTO_PORT: String(port),
    SOTTO_METRICS_PORT: "0",
    SOTTO_TRUST_PROXY: "127.0.0.1",
    SOTTO_PUBLIC_URL: "https://pay.example/zk",
    SOTTO_ARTIFACTS: artifacts,
  };
}

/** Exit code of the replicas' health check at another port. */
function healthOf(port: number): number | null {
  const [, program = "", ...args] = compose.services[REPLICAS[0]]!.healthcheck!.test;
  return spawnSync(
    program,
    args.map((arg) => arg.replace(":8402/", `:${port}/`)),
  ).status;
}

/** Pays, and repeats a request as a client does if a replica or the proxy cannot answer it. @returns the nullifier */
async function pay(world: World, proxy: RunningProxy): Promise<string> {
  const insist = (path: string, body: unknown) =>
    eventually(async () => {
      const answer = await proxy.ask(path, body).catch(() => undefined);
      return answer !== undefined && ![502, 503, 504].includes(answer.status) && answer;
    });
  const bundle = forgeBundle(world, { root: world.root });
  const { body } = await insist("/zk/verify", bundle);
  const answer = await insist("/zk/settle", settleRequest(bundle, body["paymentToken"]));
  expect(answer.body["status"], JSON.stringify(answer.body)).to.equal("success");
  return paymentSignals(bundle.publicSignals).nullifier;
}
