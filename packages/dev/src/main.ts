// `npm run dev`: builds what is missing, starts a local chain, a curator, the service, three resource servers, a faucet and the
// web app, and keeps all of it running until Ctrl-C. It imports no package of this checkout until all are built; programs that
// import them run as child processes, so that they can be restarted after a change.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBrowser } from "@sotto/command/browser";
import { errorLine, runCommand } from "@sotto/command/command";
import { Lifetime } from "@sotto/command/lifetime";
import { assertFree } from "@sotto/command/ports";
import { clock, elapsed, Progress } from "@sotto/command/progress";
import { screenOf } from "@sotto/command/terminal";
import { waitFor } from "@sotto/command/wait-for";
import { buildFolder, root } from "@sotto/keys/circuits/paths";
import type { LocalNode } from "@sotto/local/chain/node";
import { startNode } from "@sotto/local/chain/node";
import { buildAll, buildPackages } from "./build.ts";
import { curatorProgram } from "./curator.ts";
import { createFaucet } from "./faucet.ts";
import { listen } from "./http.ts";
import { type DevOptions, parseDevOptions, USAGE } from "./options.ts";
import { Child, cleanEnvironment } from "./processes.ts";
import type { Servers, ServersOrder } from "./resource-servers.ts";
import { serviceProgram } from "./service.ts";
import { State } from "./state.ts";
import { addresses, urlOf } from "./table.ts";
import type { TrafficOrder, TrafficStatus } from "./traffic.ts";
import { classify, dependenciesOf, watchSources } from "./watch.ts";
import { createWebHost } from "./web.ts";

/** Limits of a new wallet in the web app, in whole tokens. */
const LIMITS = { maxPerRequest: "0.5", maxPerDay: "5" };

const progress = new Progress(process.stdout);
const lifetime = new Lifetime();
lifetime.signal.addEventListener("abort", () => progress.stop());

const tell = (line: string): void => {
  if (!lifetime.signal.aborted) progress.print(`  ${line}`);
};

/** A child process that depends on packages of this checkout. */
interface Restartable {
  readonly child: Child<unknown>;
  readonly name: string;
  /** Its program in this folder, if it has one here. */
  readonly program: string | undefined;
  readonly packages: ReadonlySet<string>;
}

interface Started {
  readonly parts: readonly Restartable[];
  readonly traffic: () => TrafficStatus | undefined;
}

async function startChain({ ports }: DevOptions, state: State): Promise<{ node: LocalNode; kept: boolean }> {
  const history = state.path("chain.jsonl");
  const kept = state.deployment();
  const node = await waitFor(progress, "starting the local chain", (detail) =>
    startNode(ports.chain, { history }, (blocks, of) => detail(`block ${blocks} of ${of}`)),
  );
  lifetime.atEnd(() => node.stop());
  if (kept !== undefined) return { node, kept: true };
  state.keepDeployment(
    await waitFor(progress, "deploying the contracts", async () => {
      // This module imports packages of this checkout, which have been built by now.
      const { deployLocal } = await import("@sotto/local/chain/deployment");
      return deployLocal(node.url);
    }),
  );
  return { node, kept: false };
}

async function startAll(options: DevOptions, state: State): Promise<Started> {
  const { ports, traffic: rate } = options;
  const { node, kept } = await startChain(options, state);
  const deployment = state.deployment()!;
  const own = <Ready>(child: Child<Ready>): Child<Ready> => {
    lifetime.atEnd(() => child.stop());
    return child;
  };
  const curator = own(new Child(curatorProgram({ state, port: ports.curator, chain: node.url, tell })));
  const set = await waitFor(progress, "starting the curator", () => curator.start());
  writeFileSync(state.path("curator.txt"), `${set.key}\n`);

  const hasTraffic = rate > 0;
  const service = own(
    new Child(serviceProgram({ state, port: ports.service, chain: node.url, set, hasTraffic, tell })),
  );
  const serviceUrl = await waitFor(progress, "starting the service and its phone registry", () => service.start());

  const order: ServersOrder = {
    deployment,
    chain: node.url,
    service: serviceUrl,
    set,
    wallet: urlOf(ports.web),
    folder: state.folder,
    newsPort: ports.news,
    weatherPort: ports.weather,
    modelPort: ports.model,
  };
  const servers = own(
    new Child<Servers>({
      name: "resource servers",
      program: join(import.meta.dirname, "resource-servers.ts"),
      environment: cleanEnvironment(),
      order,
      logFile: state.path("logs/resource-servers.log"),
      ready: ({ message }) => (typeof message === "object" ? (message as Servers) : undefined),
      onSaid: ({ message }) => {
        if (typeof message === "string") tell(message);
      },
      tell,
    }),
  );
  const { merchants, model } = await waitFor(progress, "starting the resource servers", () => servers.start());

  const configuration = {
    name: "sotto on this machine",
    deployment,
    nodes: [node.url],
    service: serviceUrl,
    registry: serviceUrl,
    faucet: urlOf(ports.faucet),
    merchants,
    limits: LIMITS,
  };
  lifetime.atEnd(await listen(createFaucet({ chain: node.url, token: deployment.token }), ports.faucet));
  lifetime.atEnd(
    await listen(
      createWebHost(join(root, "packages", "web", "dist"), () => configuration),
      ports.web,
    ),
  );

  // The model and its client are those of a template.
  const paid = new Set([...dependenciesOf("prepaid"), ...dependenciesOf("origins"), "create-sotto"]);
  const parts: Restartable[] = [
    { child: curator, name: "curator", program: undefined, packages: dependenciesOf("origins") },
    { child: service, name: "service", program: undefined, packages: dependenciesOf("service") },
    {
      child: servers,
      name: "resource servers",
      program: "resource-servers",
      packages: paid,
    },
  ];
  let status: TrafficStatus | undefined;
  if (hasTraffic) {
    const trafficOrder: TrafficOrder = {
      rate,
      deployment,
      chain: node.url,
      service: serviceUrl,
      set,
      artifacts: buildFolder,
      folder: state.folder,
      urls: merchants.map(({ url }) => url),
      model: model.url,
    };
    const traffic = own(
      new Child<true>({
        name: "traffic",
        program: join(import.meta.dirname, "traffic.ts"),
        environment: cleanEnvironment(),
        order: trafficOrder,
        logFile: state.path("logs/traffic.log"),
        ready: ({ message }) => (message === "started" ? true : undefined),
        onSaid: ({ message }) => {
          if (typeof message === "object") status = message as TrafficStatus;
        },
        tell,
      }),
    );
    await waitFor(progress, "opening the wallets that make traffic", () => traffic.start());
    parts.push({ child: traffic, name: "traffic", program: "traffic", packages: paid });
  }

  const screen = screenOf(process.stdout);
  const running = { ports, deployment, service: serviceUrl, set, merchants, model, folder: state.folder, kept };
  progress.print(`\n${addresses(screen, running)}`);
  if (state.hasOtherContracts()) tell("the contracts have changed since this pool was deployed; --fresh deploys them");
  return { parts, traffic: () => status };
}

/** The action that runs after a change; shown instead of the status. */
let activity: (() => string) | undefined;

/** Builds what changed and restarts the processes that use it. One batch at a time. */
function watchAndRestart(parts: readonly Restartable[]): () => void {
  const programs = parts.map(({ program }) => program).filter((name) => name !== undefined);
  let last: Promise<void> = Promise.resolve();
  return watchSources((files) => {
    last = last
      .then(() => pickUp(files, parts, programs))
      .catch((error: unknown) => tell(`${errorLine(error)}; the processes keep running as they were`));
  });
}

async function pickUp(files: readonly string[], parts: readonly Restartable[], programs: string[]): Promise<void> {
  const changes = classify(files, programs);
  const [first, ...others] = files;
  const what = others.length === 0 ? first : `${first} and ${others.length} more`;
  if (changes.needsFresh) tell(`${what} changed: stop, and start again with npm run dev -- --fresh`);
  if (changes.needsRestart) tell(`${what} changed: stop, and start npm run dev again`);
  const start = performance.now();
  if (changes.packages.length > 0) {
    const action = `${what} changed: building ${changes.packages.join(", ")}`;
    activity = () => `${action} (${elapsed(start)})`;
    await buildPackages(changes.packages, progress, lifetime.signal).finally(() => {
      activity = undefined;
    });
  }
  const affected = parts.filter(
    ({ packages, program }) =>
      changes.packages.some((name) => packages.has(name)) ||
      (program !== undefined && changes.programs.includes(program)),
  );
  for (const { child } of affected) await child.restart();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const names = affected.map(({ name }) => name).join(" and the ");
  if (affected.length > 0) tell(`${what} changed: started the ${names} again (${seconds} s)`);
  else if (changes.packages.length > 0) tell(`${what} changed: built in ${seconds} s; reload the page to see it`);
}

/**
 * Shows the status line at the bottom. Without a terminal it contains only the traffic, because the running time would
 * add a line to the log every few seconds.
 */
function showStatus({ traffic }: Started, start: number): void {
  progress.show(() => {
    if (activity !== undefined) return activity();
    const status = traffic();
    const paid =
      status === undefined
        ? ""
        : `${status.paid} paid requests, ${status.rate.toFixed(2)} a second` +
          (status.failed === 0 ? "" : `, ${status.failed} failed (${status.problem})`);
    if (!process.stdout.isTTY) return paid;
    return [`running ${clock((performance.now() - start) / 1000)}`, paid, "Ctrl-C ends it"].filter(Boolean).join(", ");
  });
}

async function dev(): Promise<void> {
  const options = parseDevOptions(process.argv.slice(2));
  if (options.help) return void process.stdout.write(USAGE);
  const state = State.open(options.state);
  await assertFree(options.ports);
  if (options.fresh) state.clear();
  if (options.build) await buildAll("npm run dev", progress, lifetime.signal);
  const started = await startAll(options, state);
  const start = performance.now();
  const stopWatching = watchAndRestart(started.parts);
  lifetime.atEnd(stopWatching);
  if (options.open) openBrowser(urlOf(options.ports.web));
  showStatus(started, start);
  await once(lifetime.signal, "abort");
}

await runCommand(() => lifetime.run(dev));
