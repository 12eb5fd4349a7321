// The service that the story runs through: the real one with its phone registry, a process of its own on a free port,
// told everything by settings as in production. Its stores are in memory and its keys made for the run; the codes that
// would go to phones are written into a file, as in development.
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import type { DeploymentManifest } from "@sotto/protocol";
import { startChild } from "./child.ts";
import type { Cleanup } from "./cleanup.ts";
import type { StartedService } from "./service-process.ts";

export interface ServicePlace {
  readonly deployment: DeploymentManifest;
  /** JSON-RPC address of the chain. */
  readonly chain: string;
  /** Folder with the circuits' artifacts. */
  readonly artifacts: string;
  /** Private key of the account that pays the gas. */
  readonly relayerKey: string;
  /** For the registry's keys and codes. */
  readonly folder: string;
}

/** Where the development sender writes codes, a line of JSON each. */
export const codeFile = (folder: string): string => join(folder, "phone-codes.jsonl");

/** @throws CommandError with the code of a setting, an artifact or the chain */
export const startDemoService = (place: ServicePlace, cleanup: Cleanup): Promise<StartedService> =>
  startChild<StartedService>("service-process.ts", { environment: settings(place) }, cleanup);

function settings({ deployment, chain, artifacts, relayerKey, folder }: ServicePlace): Record<string, string> {
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
    // A few payments at a time: more threads would only take longer to start.
    SOTTO_VERIFY_WORKERS: "1",
    SOTTO_PHONE_REGISTRY: "on",
    SOTTO_PHONE_STORE: "sqlite::memory:",
    SOTTO_PHONE_KEYS: join(folder, "phone-keys.json"),
    SOTTO_PHONE_SENDER: "file",
    SOTTO_PHONE_CODE_FILE: codeFile(folder),
    SOTTO_LOG_LEVEL: process.env["SOTTO_DEBUG"] === "1" ? "debug" : "silent",
  };
}
