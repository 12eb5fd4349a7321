import { MAX_SERVICE_LENGTH } from "@sotto/protocol";
import type { RegistryKeys } from "../crypto/keys.ts";
import { RegistryError } from "../errors.ts";
import type { CountryCode } from "../http/numbers.ts";
import { limitsOf } from "../registry/limits.ts";
import type { RegistryLimits } from "../registry/options.ts";
import type { PhoneSettings } from "./settings.ts";

/** The registry's settings, complete and checked against each other. */
export interface PhoneConfig {
  /** EIP-155 id that links must name. */
  readonly chainId: bigint;
  /** The pool that links must name, 20 bytes, lower-case hex with 0x. */
  readonly pool: `0x${string}`;
  /** Public base URL, which wallets sign. Undefined on a local chain: the address that the server listens on. */
  readonly service: string | undefined;
  /** Whether the chain is a local one, on which keys are created and codes may be written to a file. */
  readonly local: boolean;
  /** `sqlite:PATH`, or `postgres://..` for several replicas. */
  readonly store: string;
  /** Undefined on a local chain: keys are created in `keyFile`. */
  readonly keys: RegistryKeys | undefined;
  /** Path of the file for keys that are created on a local chain. */
  readonly keyFile: string;
  /** How codes are sent. A webhook gets `tries` attempts of at most `timeoutMs` each. */
  readonly sender:
    | {
        readonly kind: "webhook";
        readonly url: string;
        readonly secret: string;
        readonly timeoutMs: number;
        readonly tries: number;
      }
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "log" };
  /** Country of numbers in local form, ISO 3166; undefined: only international numbers are accepted. */
  readonly defaultCountry: CountryCode | undefined;
  /** Countries whose numbers may be linked, ISO 3166; undefined: all. */
  readonly countries: readonly CountryCode[] | undefined;
  /** How `resolve` answers an unverified number: with the link and `verified: false`, or with 404. */
  readonly unverified: "show" | "hide";
  /** Whether each lookup needs a wallet's signature. */
  readonly signedLookups: boolean;
  /** Rates of codes and lookups, and how long data is kept, s. */
  readonly limits: RegistryLimits;
  /** Maximum checks of contract signatures per client and hour. */
  readonly contractChecks: number;
}

/** The pool and the service that a registry belongs to. */
export interface PhoneDeployment {
  /** EIP-155 id. */
  readonly chainId: number;
  /** Address of the pool, 20 bytes, lower-case hex with 0x. */
  readonly pool: string;
  /** Public base URL of the registry; undefined if not configured, which only a local chain permits. */
  readonly publicUrl: string | undefined;
  /** Whether settings for development are allowed: on a local chain, unless NODE_ENV is production. */
  readonly local: boolean;
}

/** Problems of the settings, each a sentence that begins with a variable's name. */
export function phoneProblems(settings: PhoneSettings, { publicUrl, local }: PhoneDeployment): string[] {
  const problems: string[] = [];
  const { phoneMasterKeys: master, phoneIndexKeys: index, phoneSender: sender } = settings;
  if (!local || (master === undefined) !== (index === undefined)) {
    if (master === undefined)
      problems.push("SOTTO_PHONE_MASTER_KEYS is missing: the registry encrypts with these keys");
    if (index === undefined)
      problems.push("SOTTO_PHONE_INDEX_KEYS is missing: the registry finds numbers with these keys");
  }
  if (!local && !publicUrl?.startsWith("https://"))
    problems.push("SOTTO_PUBLIC_URL must be the https base URL of the registry: wallets sign it");
  if (publicUrl !== undefined && publicUrl.length > MAX_SERVICE_LENGTH)
    problems.push(`SOTTO_PUBLIC_URL must have at most ${MAX_SERVICE_LENGTH} characters: wallets sign it`);
  if (sender === "webhook") {
    const { phoneWebhookUrl: url, phoneWebhookSecret: secret } = settings;
    if (url === undefined) problems.push("SOTTO_PHONE_WEBHOOK_URL is missing: the sender webhook posts codes to it");
    else if (!url.startsWith("https://") && !local) problems.push("SOTTO_PHONE_WEBHOOK_URL must be an https URL");
    if (secret === undefined)
      problems.push("SOTTO_PHONE_WEBHOOK_SECRET is missing: the webhook authenticates the registry with it");
  } else if (!local)
    problems.push(
      `SOTTO_PHONE_SENDER must be webhook: the sender ${sender} does not protect codes and is for local chains only`,
    );
  const ids = [...(master ?? []), ...(index ?? [])].map(({ key }) => Buffer.from(key).toString("hex"));
  if (new Set(ids).size !== ids.length)
    problems.push("SOTTO_PHONE_INDEX_KEYS and SOTTO_PHONE_MASTER_KEYS must all be different keys");
  try {
    limitsOf(phoneLimits(settings));
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    problems.push(`SOTTO_PHONE_ limits: ${error.message}`);
  }
  return problems;
}

/** The configuration of a registry. @param settings without any `phoneProblems` */
export function phoneConfig(settings: PhoneSettings, deployment: PhoneDeployment): PhoneConfig {
  const { phoneMasterKeys: master, phoneIndexKeys: index } = settings;
  const countries = settings.phoneCountries ?? [];
  return {
    chainId: BigInt(deployment.chainId),
    pool: deployment.pool as `0x${string}`,
    service: deployment.publicUrl,
    local: deployment.local,
    store: settings.phoneStore!,
    keys: master === undefined || index === undefined ? undefined : { master, index },
    keyFile: settings.phoneKeys!,
    sender: senderOf(settings),
    defaultCountry: settings.phoneDefaultCountry,
    countries: countries.length === 0 ? undefined : countries,
    unverified: settings.phoneUnverified!,
    signedLookups: settings.phoneSignedLookups === "on",
    limits: phoneLimits(settings),
    contractChecks: settings.phoneContractChecks!,
  };
}

function senderOf(settings: PhoneSettings): PhoneConfig["sender"] {
  if (settings.phoneSender === "log") return { kind: "log" };
  if (settings.phoneSender === "file") return { kind: "file", path: settings.phoneCodeFile! };
  return {
    kind: "webhook",
    url: settings.phoneWebhookUrl!,
    secret: settings.phoneWebhookSecret!,
    timeoutMs: settings.phoneWebhookTimeoutMs!,
    tries: settings.phoneWebhookTries!,
  };
}

const phoneLimits = (settings: PhoneSettings): RegistryLimits => ({
  codes: {
    number: settings.phoneCodesNumber ?? [],
    linked: settings.phoneCodesLinked ?? [],
    wallet: settings.phoneCodesWallet ?? [],
    client: settings.phoneCodesClient ?? [],
    total: settings.phoneCodesTotal ?? [],
  },
  tries: { client: settings.phoneTriesClient ?? [] },
  lookups: {
    client: settings.phoneLookupsClient ?? [],
    caller: settings.phoneLookupsCaller ?? [],
    range: settings.phoneLookupsRange ?? [],
    clientRange: settings.phoneLookupsClientRange ?? [],
  },
  linkedPercent: settings.phoneLinkedPercent ?? 0,
  rangeDigits: settings.phoneRangeDigits ?? 4,
  pendingSeconds: settings.phonePendingSeconds ?? 86_400,
  auditSeconds: settings.phoneAuditSeconds ?? 86_400,
});
