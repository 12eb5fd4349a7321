// The service that the story runs through: the real one, a process of its own on a free port, told everything by
// settings as in production. Its store is in memory and its token key made for the run: it leaves no file behind.
import { fork } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import type { LocalDeployment } from "../chain/deployment.ts";
import { CommandError } from "../lib/command.ts";
import type { ServiceMessage } from "./service-process.ts";

export interface ServicePlace {
  readonly deployment: LocalDeployment;
  /** JSON-RPC address of the chain. */
  readonly chain: string;
  /** Folder with the circuits' artifacts. */
  readonly artifacts: string;
  /** Private key of the account that pays the gas. */
  readonly relayerKey: string;
}

export interface DemoService {
  /** Base address, with the base path. */
  readonly url: string;
  /** Address of the account that pays the gas, in lower case. */
  readonly relayer: string;
  /** Ends it and waits until it is gone. */
  stop(): Promise<void>;
}

/** @throws CommandError with the code of a setting, an artifact or the chain, SERVICE_FAILED; nothing is left running */
export async function startDemoService(place: ServicePlace): Promise<DemoService> {
  const child = fork(join(import.meta.dirname, "service-process.ts"), [], {
    env: settings(place),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async () => {
    child.ref();
    child.kill("SIGTERM");
    await closed;
  };
  const message = await new Promise<ServiceMessage>((resolve) => {
    const fail = (text: string) => resolve({ error: { code: "SERVICE_FAILED", message: text } });
    child.once("message", (received: ServiceMessage) => resolve(received));
    child.once("error", (error) => fail(error.message));
    void closed.then(() => fail("the service ended while it started"));
  });
  if ("error" in message) {
    await stop();
    throw new CommandError(message.error.code, message.error.message);
  }
  // A parent that ends without stop() is not kept alive; its service ends with it.
  child.unref();
  child.channel?.unref();
  return { ...message.started, stop };
}

function settings({ deployment, chain, artifacts, relayerKey }: ServicePlace): Record<string, string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  return {
    SOTTO_PORT: "0",
    SOTTO_CHAIN_ID: String(deployment.chainId),
    SOTTO_POOL: deployment.pool,
    SOTTO_DEPLOYMENT_BLOCK: String(deployment.deploymentBlock),
    SOTTO_RPC_URLS: chain,
    SOTTO_RELAYER_KEY: relayerKey,
    SOTTO_ARTIFACTS: artifacts,
    SOTTO_STORE: "sqlite::memory:",
    SOTTO_TOKEN_KEY: JSON.stringify(privateKey.export({ format: "jwk" })),
    // One payer at a time: more threads would only take longer to start.
    SOTTO_VERIFY_WORKERS: "1",
    SOTTO_LOG_LEVEL: process.env["SOTTO_DEBUG"] === "1" ? "debug" : "silent",
  };
}
