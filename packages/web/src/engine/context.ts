// The context that all parts of an open wallet share.

import type { Origins } from "@sotto/origins/wallet";
import { requestedUrl, type SottoError } from "@sotto/protocol";
import { SottoService, type Wallet } from "@sotto/wallet";
import type { HostConfig, Limits } from "../config.ts";
import type { ServiceRequest } from "./api.ts";
import type { LazyProver } from "./prover.ts";
import type { Secrets } from "./vault.ts";

export interface Context {
  readonly config: HostConfig;
  readonly secrets: Secrets;
  readonly wallet: Wallet;
  /** Keeps the notes of different origins apart, and shows origins with payments. */
  readonly origins: Origins;
  readonly prover: LazyProver;
  readonly service: SottoService;
  /** The registry, or the service if the configuration names no other. */
  readonly registry: SottoService;
  /** Sends requests to the service, and records them. */
  readonly serviceFetch: typeof fetch;
  readonly requests: readonly ServiceRequest[];
  limits: Limits;
  /** Schedules a read of the chain, after which the page shows the new state. */
  refresh(): Promise<void>;
}

const MAX_REQUESTS = 100;
const MAX_BODY_CHARACTERS = 64 * 1024;

/** Records requests to the service, without the tokens that can settle payments. */
export function recordedFetch(base: string): { send: typeof fetch; requests: ServiceRequest[] } {
  const requests: ServiceRequest[] = [];
  const send: typeof fetch = (input, init) => {
    const url = requestedUrl(input);
    const body = typeof init?.body === "string" ? init.body.slice(0, MAX_BODY_CHARACTERS) : "";
    requests.push({
      at: Date.now(),
      method: init?.method ?? "GET",
      path: url.startsWith(base) ? url.slice(base.length) : new URL(url).pathname,
      body: body.replace(/("paymentToken":")[^"]*/g, "$1…"),
    });
    if (requests.length > MAX_REQUESTS) requests.shift();
    return fetch(input, init);
  };
  return { send, requests };
}

export function createServices(config: HostConfig, send: typeof fetch): Pick<Context, "service" | "registry"> {
  const chainId = BigInt(config.deployment.chainId);
  const service = new SottoService(config.service, { fetch: send, chainId });
  const { registry } = config;
  return {
    service,
    registry: registry === undefined ? service : new SottoService(registry, { fetch: send, chainId }),
  };
}

export const isCode = (error: unknown, code: string): error is SottoError =>
  error instanceof Error && (error as { code?: unknown }).code === code;
