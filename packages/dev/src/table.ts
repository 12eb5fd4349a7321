import { relative } from "node:path";
import { HOST } from "@sotto/command/ports";
import { paint, type Screen, table } from "@sotto/command/terminal";
import type { CuratedSet } from "@sotto/local/demo/processes";
import type { DeploymentManifest } from "@sotto/protocol";
import type { Ports } from "./ports.ts";
import type { Servers } from "./resource-servers.ts";

export interface Running extends Servers {
  readonly ports: Ports;
  readonly deployment: DeploymentManifest;
  /** Base URL of the service. */
  readonly service: string;
  readonly set: CuratedSet;
  /** The state folder. */
  readonly folder: string;
  /** Whether the chain is from an earlier run. */
  readonly kept: boolean;
}

export const urlOf = (port: number): string => `http://${HOST}:${port}`;

/** All addresses, at most 80 columns wide. */
export function addresses(screen: Screen, running: Running): string {
  const { ports, deployment, service, set, merchants, model, folder, kept } = running;
  const inside = relative(process.cwd(), folder);
  const path = inside.startsWith("..") ? folder : inside;
  const { chainId, pool } = deployment;
  const rows = [
    ["web app", paint(screen, "bold", urlOf(ports.web)), ""],
    ...merchants.map(({ name, url, price }) => [name.toLowerCase(), url, `${price} USDC a request`]),
    ["model", model.url, `at most ${model.cap} USDC a chat`],
    ["service", service, "verify, settle, phone registry"],
    ["curator", set.curator, `its set of deposits: ${set.name}`],
    ["faucet", `${urlOf(ports.faucet)}/drip`, 'POST {"address":"0x.."}'],
    ["chain", urlOf(ports.chain), `id ${chainId}, pool ${pool.slice(0, 10)}..`],
  ];
  const files = [
    ["state", path, kept ? "kept from the last run; --fresh starts over" : "the next run continues with it"],
    ["logs", `${path}/logs`, "one file for each process"],
    ["curator", `${path}/curator.txt`, "its account, for sotto origin follow --key"],
    ["merchant", `${path}/viewing-key.json`, "shows its payments, cannot spend"],
  ];
  return [rows, files].map((part) => table(part.map((row) => ["", ...row]))).join("\n");
}
