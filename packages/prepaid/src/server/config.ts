// Checks the options of the method as far as possible without any request, and reads its files.

import { readFileSync } from "node:fs";
import type { Deployment } from "@sotto/protocol";
import { SottoError } from "@sotto/protocol";
import { assertFields, invalidOption, parseInteger } from "@sotto/resource-server";
import {
  decodePrepaidKeyFile,
  decodeSignedSchedule,
  laterEpoch,
  MAX_PREPAID_KEY_FILE_BYTES,
  type PrepaidKeyFile,
  type PrepaidMerchant,
  prepaidChallengeDigest,
  type SignedSchedule,
} from "../index.ts";
import { Keyring } from "./keyring.ts";
import type { PrepaidOptions } from "./options.ts";

const MAX_SCHEDULES = 4;
const FIELDS = ["schedules", "keys", "store", "guard", "closedBefore", "workers"];

export interface PrepaidConfig {
  readonly schedules: readonly SignedSchedule[];
  readonly keyring: Keyring;
  /** The digest that every token of this origin contains. */
  readonly challengeDigest: string;
  /** For @sotto/database. */
  readonly storeUrl: string;
  readonly guard: string | undefined;
  readonly closedBefore: string | undefined;
  readonly workers: number;
}

/** The paywall's own options that signed statements must name. */
export interface MerchantOptions {
  readonly origin: string;
  readonly wallet: string;
  readonly deployment: Deployment;
}

/** The paywall's own options that tokens depend on. */
export interface PaywallParts extends MerchantOptions {
  readonly storeUrl: string;
}

/** Parses a file's JSON. Errors contain no part of its content, which may be secret. */
function readJson(path: string, where: string, maxBytes: number): unknown {
  let text: Buffer;
  try {
    text = readFileSync(path);
  } catch (cause) {
    throw invalidOption(`${where}: the file ${path} cannot be read: ${(cause as NodeJS.ErrnoException).code}`);
  }
  if (text.length > maxBytes) throw invalidOption(`${where}: the file ${path} has more than ${maxBytes} bytes`);
  try {
    return JSON.parse(text.toString("utf8"));
  } catch {
    throw invalidOption(`${where}: the file ${path} is not JSON`);
  }
}

/** The content of an option that is either the path of a JSON file or its content. @throws PaywallError INVALID_OPTION */
export const readJsonOption = (option: unknown, where: string, maxBytes = MAX_PREPAID_KEY_FILE_BYTES): unknown =>
  typeof option === "string" ? readJson(option, where, maxBytes) : option;

/** Turns the error of a decoder, which contains no secret, into INVALID_OPTION. */
export function decodeOption<T>(where: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalidOption(`${where}: ${cause.message}`, cause);
  }
}

/** Checks that a signed statement is of this paywall's merchant and deployment. @throws PaywallError INVALID_OPTION */
export function assertMerchant(
  { origin, wallet, chainId, pool }: PrepaidMerchant,
  where: string,
  { deployment, ...merchant }: MerchantOptions,
): void {
  for (const [what, found, expected] of [
    ["origin", origin, merchant.origin],
    ["wallet", wallet, merchant.wallet],
    ["chain", chainId, deployment.chainId],
    ["pool", pool, deployment.pool],
  ] as const)
    if (found !== expected)
      throw invalidOption(`${where} is for the ${what} ${found}, but this paywall has ${expected}`);
}

function parseSchedule(option: unknown, where: string, parts: MerchantOptions): SignedSchedule {
  const content = readJsonOption(option, where);
  const signed = decodeOption(where, () => decodeSignedSchedule(content));
  assertMerchant(signed.schedule, where, parts);
  return signed;
}

function parseKeys(option: unknown, origin: string): PrepaidKeyFile | undefined {
  if (option === undefined) return undefined;
  const content = readJsonOption(option, "prepaid.keys");
  const file = decodeOption("prepaid.keys", () => decodePrepaidKeyFile(content));
  if (file.origin !== origin)
    throw invalidOption(`prepaid.keys are for the origin ${file.origin}, but this paywall has ${origin}`);
  return file;
}

function parseStore({ store }: PrepaidOptions, { storeUrl }: PaywallParts): string {
  const url = store ?? storeUrl;
  if (typeof url !== "string" || url === "memory" || url.startsWith("sqlite::memory:"))
    throw invalidOption(
      `${store === undefined ? "store" : "prepaid.store"} must be durable for prepaid tokens, because a store in memory ` +
        'forgets which tokens were spent: write "sqlite:PATH" or "postgres://USER@HOST/DATABASE"',
    );
  return url;
}

function parseEpoch(epoch: unknown): string | undefined {
  return epoch === undefined ? undefined : decodeOption("prepaid.closedBefore", () => laterEpoch(epoch as string, 0));
}

/** @throws PaywallError INVALID_OPTION */
export function parsePrepaid(options: PrepaidOptions, parts: PaywallParts): PrepaidConfig {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalidOption('prepaid must be an object such as { keys: "keys.json", schedules: ["schedule.signed.json"] }');
  assertFields(options, "prepaid", FIELDS);
  const { schedules, keys, guard, workers = 2 } = options;
  if (!Array.isArray(schedules) || schedules.length === 0 || schedules.length > MAX_SCHEDULES)
    throw invalidOption(`prepaid.schedules must be a list of 1 to ${MAX_SCHEDULES} signed schedules`);
  if (guard !== undefined && (typeof guard !== "string" || guard === ""))
    throw invalidOption("prepaid.guard must be the path of a file");
  const parsed = schedules.map((one, i) => parseSchedule(one, `prepaid.schedules[${i}]`, parts));
  return {
    schedules: parsed,
    keyring: new Keyring(
      parsed.map(({ schedule }) => schedule),
      parseKeys(keys, parts.origin),
    ),
    challengeDigest: prepaidChallengeDigest(parts.origin),
    storeUrl: parseStore(options, parts),
    guard: guard ?? (typeof keys === "string" ? `${keys}.guard` : undefined),
    closedBefore: parseEpoch(options.closedBefore),
    workers: parseInteger(workers, "prepaid.workers", 1, 16),
  };
}
