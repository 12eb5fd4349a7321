import { WalletError } from "../errors.ts";
import { SottoService } from "../service/service.ts";
import { parseCount } from "./connect.ts";
import type { WalletCore } from "./core.ts";

const TIMEOUT_MS = 600_000;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_POLL_MS = 4_000;

/** The first pause between two scans, ms. */
export const FIRST_POLL_MS = 250;

/** Options of a call that submits something and waits until the chain shows it. */
export interface SubmitOptions<P> {
  /** The service that submits it, or its base URL. Default: the wallet's. */
  service?: SottoService | string | undefined;
  /** Maximum time to wait for the chain after the service settled it, ms. Default: 600,000. */
  timeoutMs?: number | undefined;
  /** Called when the stage changes. */
  onProgress?: ((progress: P) => void) | undefined;
  /** Stops waiting. An operation that was submitted is still executed; the next equal call resumes it. */
  signal?: AbortSignal | undefined;
}

export interface Follow<P> {
  timeoutMs: number;
  /** Aborted by the caller, or when the wallet is closed. */
  signal: AbortSignal;
  /** Calls `onProgress` if the stage has changed. */
  report: (progress: P) => void;
}

/** @throws WalletError INVALID_OPTION */
export function followOf<P extends { stage: string }>(core: WalletCore, options: SubmitOptions<P>): Follow<P> {
  const { timeoutMs = TIMEOUT_MS, onProgress, signal } = options;
  let last: string | undefined;
  return {
    timeoutMs: parseCount(timeoutMs, "timeoutMs", 0, MAX_TIMEOUT_MS),
    signal: signal === undefined ? core.closing.signal : AbortSignal.any([signal, core.closing.signal]),
    report(progress) {
      if (progress.stage === last) return;
      last = progress.stage;
      onProgress?.(progress);
    },
  };
}

/**
 * The service that submits `what`.
 * @throws WalletError INVALID_OPTION; ServiceClientError SERVICE_NOT_ALLOWED, SERVICE_NOT_SECURE
 */
export function serviceOf(
  core: WalletCore,
  service: SottoService | string | undefined = core.options.service,
  what: string,
): SottoService {
  if (service === undefined)
    throw new WalletError("INVALID_OPTION", `service is missing: the service that submits the ${what}`);
  return typeof service === "string" ? new SottoService(service, { chainId: core.options.info.chainId }) : service;
}

/** The next pause between two scans, after a pause of `pause` ms. */
export const nextPause = (pause: number): number => Math.min(pause * 1.5, MAX_POLL_MS);
