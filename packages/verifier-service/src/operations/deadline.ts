import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors.ts";

/** Minimum time that the relayer needs to settle, ms. With less time left, it broadcasts nothing. */
export function minSettleTimeMs({ blockTimeMs }: Pick<Config, "blockTimeMs">): number {
  return Math.max(30_000, 2 * blockTimeMs);
}

/** Parses decimal seconds. @throws ServiceError INVALID_REQUEST */
export function parseSeconds(text: string, name: string): bigint {
  if (/^(0|[1-9][0-9]{0,18})$/.test(text)) return BigInt(text);
  throw new ServiceError("INVALID_REQUEST", `${name} must be whole seconds, decimal without leading zeros`);
}

interface DeadlineServices {
  readonly config: Pick<Config, "blockTimeMs" | "longestValidity">;
  readonly clock: () => number;
}

/** @throws ServiceError EXPIRED, VALIDITY_TOO_LONG */
export function assertDeadline(until: bigint, name: string, { config, clock }: DeadlineServices): void {
  const left = Number(until) * 1000 - clock();
  if (left < minSettleTimeMs(config))
    throw new ServiceError(
      "EXPIRED",
      `${name} leaves ${left} ms to settle, but ${minSettleTimeMs(config)} ms are needed`,
    );
  if (left > config.longestValidity * 1000)
    throw new ServiceError("VALIDITY_TOO_LONG", `${name} is more than ${config.longestValidity} s ahead`);
}
