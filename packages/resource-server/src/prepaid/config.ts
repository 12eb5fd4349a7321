// Checks the option `prepaid` as far as possible without any request, and reads its files.
import { readFileSync } from "node:fs";
import type { Deployment } from "@sotto/protocol";
import { normalizeSignature, SottoError } from "@sotto/protocol";
import { decodeSchedule, laterEpoch, type PrepaidSchedule, prepaidChallengeDigest } from "@sotto/protocol/prepaid";
import { invalidOption } from "../errors.ts";
import { assertFields, parseInteger } from "../option-values.ts";
import { Keyring } from "./keyring.ts";
import type { PrepaidKeyFile, PrepaidOptions, SignedSchedule } from "./options.ts";

const MAX_SCHEDULES = 4;
const MAX_FILE_BYTES = 1 << 20;
const MAX_KEYS = 1_000;
const FIELDS = ["schedules", "keys", "store", "guard", "closedBefore", "workers"];

export interface ParsedSchedule extends SignedSchedule {
  readonly parsed: PrepaidSchedule;
}

export interface PrepaidConfig {
  readonly schedules: readonly ParsedSchedule[];
  readonly keyring: Keyring;
  /** The digest that every token of this origin contains. */
  readonly challengeDigest: string;
  /** For @sotto/database. */
  readonly storeUrl: string;
  readonly guard: string | undefined;
  readonly closedBefore: string | undefined;
  readonly workers: number;
}

/** The paywall's own options that tokens depend on. */
export interface PrepaidTerms {
  readonly origin: string;
  readonly wallet: string;
  readonly deployment: Deployment;
  readonly storeUrl: string;
}

/** Parses a file's JSON. Errors contain no part of its content, which may be secret. */
function readJson(path: string, where: string): unknown {
  let text: Buffer;
  try {
    text = readFileSync(path);
  } catch (cause) {
    throw invalidOption(`${where}: the file ${path} cannot be read: ${(cause as NodeJS.ErrnoException).code}`);
  }
  if (text.length > MAX_FILE_BYTES)
    throw invalidOption(`${where}: the file ${path} has more than ${MAX_FILE_BYTES} bytes`);
  try {
    return JSON.parse(text.toString("utf8"));
  } catch {
    throw invalidOption(`${where}: the file ${path} is not JSON`);
  }
}

const contentOf = (option: unknown, where: string): unknown =>
  typeof option === "string" ? readJson(option, where) : option;

function parseSchedule(option: unknown, where: string, terms: PrepaidTerms): ParsedSchedule {
  const { schedule, signature } = Object(contentOf(option, where)) as SignedSchedule;
  let parsed: PrepaidSchedule;
  try {
    parsed = decodeSchedule(schedule);
    normalizeSignature(signature);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalidOption(`${where} is not a signed schedule: ${cause.message}`, cause);
  }
  const { origin, wallet, deployment } = terms;
  const differs = (what: string, found: unknown, expected: unknown) =>
    invalidOption(`${where} is for the ${what} ${String(found)}, but this paywall has ${String(expected)}`);
  if (parsed.origin !== origin) throw differs("origin", parsed.origin, origin);
  if (parsed.wallet !== wallet) throw differs("wallet", parsed.wallet, wallet);
  if (parsed.chainId !== deployment.chainId) throw differs("chain", parsed.chainId, deployment.chainId);
  if (parsed.pool !== deployment.pool) throw differs("pool", parsed.pool, deployment.pool);
  return { schedule, signature, parsed };
}

function parseKeys(option: unknown): PrepaidKeyFile | undefined {
  if (option === undefined) return undefined;
  const file = Object(contentOf(option, "prepaid.keys")) as PrepaidKeyFile;
  if (file.version !== 1 || !Array.isArray(file.keys) || file.keys.length > MAX_KEYS)
    throw invalidOption(`prepaid.keys is not a keys.json of version 1 with at most ${MAX_KEYS} keys`);
  if (!file.keys.every((key: unknown) => typeof key === "object" && key !== null))
    throw invalidOption("prepaid.keys must list objects");
  return file;
}

function parseStore({ store }: PrepaidOptions, terms: PrepaidTerms): string {
  const url = store ?? terms.storeUrl;
  if (typeof url !== "string" || url === "memory" || url.startsWith("sqlite::memory:"))
    throw invalidOption(
      `${store === undefined ? "store" : "prepaid.store"} must be durable for prepaid tokens, because a store in memory ` +
        'forgets which tokens were spent: write "sqlite:PATH" or "postgres://USER@HOST/DATABASE"',
    );
  return url;
}

function parseEpoch(epoch: unknown): string | undefined {
  if (epoch === undefined) return undefined;
  try {
    return laterEpoch(epoch as string, 0);
  } catch (cause) {
    throw invalidOption(`prepaid.closedBefore: ${(cause as Error).message}`, cause);
  }
}

/** @throws PaywallError INVALID_OPTION */
export function parsePrepaid(options: PrepaidOptions | undefined, terms: PrepaidTerms): PrepaidConfig | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalidOption('prepaid must be an object such as { keys: "keys.json", schedules: ["schedule.signed.json"] }');
  assertFields(options, "prepaid", FIELDS);
  const { schedules, keys, guard, workers = 2 } = options;
  if (!Array.isArray(schedules) || schedules.length === 0 || schedules.length > MAX_SCHEDULES)
    throw invalidOption(`prepaid.schedules must be a list of 1 to ${MAX_SCHEDULES} signed schedules`);
  if (guard !== undefined && (typeof guard !== "string" || guard === ""))
    throw invalidOption("prepaid.guard must be the path of a file");
  const parsed = schedules.map((one, i) => parseSchedule(one, `prepaid.schedules[${i}]`, terms));
  return {
    schedules: parsed,
    keyring: new Keyring(
      parsed.map((schedule) => schedule.parsed),
      parseKeys(keys),
    ),
    challengeDigest: prepaidChallengeDigest(terms.origin),
    storeUrl: parseStore(options, terms),
    guard: guard ?? (typeof keys === "string" ? `${keys}.guard` : undefined),
    closedBefore: parseEpoch(options.closedBefore),
    workers: parseInteger(workers, "prepaid.workers", 1, 16),
  };
}
