import { RelayerError } from "./errors.ts";
import { MAX_BATCH, type RelayerConfig } from "./types.ts";

/** Maximum time for all confirmations, seconds, so that a payment that settles in time is still fresh when it is shown. */
const MAX_CONFIRMATION_SECONDS = 60;

type Numbers = {
  [Name in keyof RelayerConfig]: RelayerConfig[Name] extends number ? Name : never;
}[keyof RelayerConfig];
type BigInts = {
  [Name in keyof RelayerConfig]: RelayerConfig[Name] extends bigint | undefined ? Name : never;
}[keyof RelayerConfig];

const RANGES: Readonly<Record<Numbers, readonly [least: number, most: number]>> = {
  confirmations: [1, 64],
  blockSeconds: [0.1, 60],
  pollInterval: [10, 60_000],
  maxBatch: [1, MAX_BATCH],
  batchDelay: [0, 10_000],
  maxInFlight: [1, 16],
  stuckAfter: [100, 3_600_000],
  rebroadcastAfter: [100, 3_600_000],
  appendAfter: [0, 3_600_000],
  rangeSize: [1, 100_000],
  maxAuthorizationAge: [60, 40 * 86_400],
  reorgDepth: [8, 10_000],
  leaseTtl: [500, 600_000],
  stalledAfter: [1_000, 3_600_000],
};

const POSITIVE: readonly BigInts[] = ["maxGas", "maxFeePerGas", "maxPriorityFeePerGas", "gasBudgetPerDay"];

/** If undefined, these derive from the chain's gas price. */
const DERIVED: readonly BigInts[] = ["maxFeePerGas", "maxPriorityFeePerGas"];

/** @throws RelayerError INVALID_RELAYER_OPTION */
export function assertConfig(config: RelayerConfig): void {
  for (const [name, [least, most]] of Object.entries(RANGES) as [Numbers, readonly [number, number]][]) {
    const value = config[name];
    if (!(typeof value === "number" && value >= least && value <= most))
      throw new RelayerError("INVALID_RELAYER_OPTION", `${name} is ${String(value)}, expected ${least} to ${most}`);
  }
  for (const name of POSITIVE) {
    if (DERIVED.includes(name) && config[name] === undefined) continue;
    if (!(typeof config[name] === "bigint" && config[name] > 0n))
      throw new RelayerError("INVALID_RELAYER_OPTION", `${name} is ${String(config[name])}, expected wei above 0`);
  }
  const wait = config.confirmations * config.blockSeconds;
  if (wait > MAX_CONFIRMATION_SECONDS)
    throw new RelayerError(
      "INVALID_RELAYER_OPTION",
      `${config.confirmations} confirmations of ${config.blockSeconds} s take ${wait} s, expected at most ${MAX_CONFIRMATION_SECONDS} s`,
    );
}
