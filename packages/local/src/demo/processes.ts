// The demo's child processes: the service with its phone registry, the curator, and the resource servers. They exit with this
// process.
import { fork } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DeploymentManifest } from "@sotto/protocol";
import { Wallet as Account } from "ethers";

/** Cleanup actions; they run in reverse order. If one fails, the others still run. */
export class Cleanup {
  readonly #actions: (() => Promise<void>)[] = [];
  add(action: () => Promise<void>): void {
    this.#actions.push(action);
  }
  /** @throws the first error of an action, after all have run */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (let action = this.#actions.pop(); action; action = this.#actions.pop())
      await action().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  }
}

/** A child's only message: that it has started, or the error that prevented it from starting. */
export type ChildMessage<Started> =
  | { readonly started: Started }
  | { readonly error: { readonly code: string; readonly message: string } };

export interface ChildOptions {
  readonly environment: Record<string, string>;
  /** Sent over the IPC channel, because it contains secrets that must not be in the environment. */
  readonly order?: object | undefined;
}

/**
 * Starts a script of this folder as a child process.
 * @param script its file name
 * @throws Error with the child's code, or CHILD_FAILED if the child exited without a message
 */
export async function startChild<Started>(
  script: string,
  { environment, order }: ChildOptions,
  cleanup: Cleanup,
): Promise<Started> {
  const child = fork(join(import.meta.dirname, script), [], {
    env: environment,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  cleanup.add(async () => {
    child.ref();
    child.kill("SIGTERM");
    await closed;
  });
  const message = await new Promise<ChildMessage<Started>>((resolve) => {
    const fail = (text: string) => resolve({ error: { code: "CHILD_FAILED", message: text } });
    child.once("message", (received: ChildMessage<Started>) => resolve(received));
    child.once("error", (error) => fail(error.message));
    void closed.then(() => fail(`${script} exited while starting`));
    if (order !== undefined) child.send(order, (error) => error && fail(error.message));
  });
  if ("error" in message) throw Object.assign(new Error(message.error.message), { code: message.error.code });
  // Otherwise the children would keep the parent alive if it ends without cleaning up.
  child.unref();
  child.channel?.unref();
  return message.started;
}

export interface StartedService {
  /** Base URL, including the base path. */
  readonly url: string;
  /** Address of the account that pays the gas, in lower case. */
  readonly relayer: string;
}

export interface ServiceOptions {
  readonly deployment: DeploymentManifest;
  /** JSON-RPC URL of the chain. */
  readonly chain: string;
  /** Folder with the circuits' artifacts. */
  readonly artifacts: string;
  /** Private key of the account that pays the gas. */
  readonly relayerKey: string;
  /** Folder for the registry's keys and codes. */
  readonly folder: string;
}

/** The file into which the development sender writes codes, one JSON object per line. */
export const codeFile = (folder: string): string => join(folder, "phone-codes.jsonl");

/**
 * Starts the service on a free port, with stores in memory and new keys.
 * @throws CommandError with the code of a setting, an artifact or the chain
 */
export const startDemoService = (options: ServiceOptions, cleanup: Cleanup): Promise<StartedService> =>
  startChild<StartedService>("service-process.ts", { environment: settings(options) }, cleanup);

/** A curator's set, as resource servers name it. */
export interface CuratedSet {
  /** Base URL of the curator's files. */
  readonly curator: string;
  /** The account with whose key the curator signs. */
  readonly key: string;
  readonly name: string;
}

export interface CuratorOptions extends Pick<ServiceOptions, "deployment" | "chain" | "artifacts" | "folder"> {
  /** The account whose deposits it accepts. */
  readonly accepted: string;
}

/** Starts a curator on a free port, with a new key. @throws SottoError with the code of a setting, an artifact or the chain */
export function startDemoCurator(options: CuratorOptions, cleanup: Cleanup): Promise<CuratedSet> {
  const { folder, accepted } = options;
  const list = join(folder, "accepted.txt");
  writeFileSync(list, `${accepted}\n`);
  const environment = {
    ...sharedSettings(options),
    SOTTO_ORIGIN_NAME: "demo",
    SOTTO_ORIGIN_KEY: Account.createRandom().privateKey,
    SOTTO_ORIGIN_STORE: `sqlite:${join(folder, "curator.sqlite")}`,
    SOTTO_ORIGIN_FOLDER: join(folder, "origins"),
    SOTTO_ORIGIN_ALLOW_LIST: list,
    SOTTO_ORIGIN_SLOT_SECONDS: "1",
  };
  return startChild<CuratedSet>("curator-process.ts", { environment }, cleanup);
}

/** Settings of every program that follows the pool. */
const sharedSettings = ({
  deployment,
  chain,
  artifacts,
}: Pick<ServiceOptions, "deployment" | "chain" | "artifacts">) => ({
  SOTTO_PORT: "0",
  SOTTO_CHAIN_ID: String(deployment.chainId),
  SOTTO_POOL: deployment.pool,
  SOTTO_DEPLOYMENT_BLOCK: String(deployment.deploymentBlock),
  SOTTO_RPC_URLS: chain,
  SOTTO_ARTIFACTS: artifacts,
  // The demo sends few payments at a time, and more threads would take longer to start.
  SOTTO_VERIFY_WORKERS: "1",
  SOTTO_LOG_LEVEL: process.env["SOTTO_DEBUG"] === "1" ? "debug" : "silent",
});

function settings({ relayerKey, folder, ...options }: ServiceOptions): Record<string, string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  return {
    ...sharedSettings(options),
    SOTTO_RELAYER_KEY: relayerKey,
    SOTTO_STORE: "sqlite::memory:",
    SOTTO_TOKEN_KEY: JSON.stringify(privateKey.export({ format: "jwk" })),
    SOTTO_PHONE_REGISTRY: "on",
    SOTTO_PHONE_STORE: "sqlite::memory:",
    SOTTO_PHONE_KEYS: join(folder, "phone-keys.json"),
    SOTTO_PHONE_SENDER: "file",
    SOTTO_PHONE_CODE_FILE: codeFile(folder),
  };
}
