// Checks the options as far as possible without any request.
import {
  allowsDevelopment,
  baseUrl,
  type Deployment,
  isSecureUrl,
  LOCAL_CHAIN_IDS,
  parseAddress,
} from "@sotto/protocol";
import { asOption, invalidOption } from "../errors.ts";
import { assertFields, isOrigin, parseInteger } from "../option-values.ts";
import type { PaymentAttachment } from "./attachment.ts";
import { parseAttachments } from "./attachments.ts";
import { type Cors, parseCors } from "./cors.ts";
import { Listings } from "./discovery.ts";
import type { PaymentMethod } from "./method.ts";
import { headerNames, PRIVATE_METHOD, parseMethods } from "./methods.ts";
import type { PaywallChain, PaywallOptions } from "./options.ts";
import { type Page, parsePage } from "./page.ts";
import { parseRecipients, type Recipients } from "./recipients.ts";

/** Maximum time for a payment's confirmations, ms: a payment that settled in time must still be fresh afterwards. */
const MAX_CONFIRMATIONS_MS = 60_000;

export interface Config {
  readonly origin: string;
  /** Without a trailing slash. */
  readonly service: string;
  readonly recipients: Recipients;
  readonly deployment: Deployment;
  readonly confirmations: number;
  readonly blockTimeMs: number;
  readonly settleWaitMs: number;
  /** Whether the store is in memory; it does not know whether payments made before the start were used. */
  readonly inMemory: boolean;
  /** For @sotto/database. */
  readonly storeUrl: string;
  /** Undefined if the paywall leaves CORS to the application. */
  readonly cors: Cors | undefined;
  readonly listings: Listings;
  /** Undefined if browsers get JSON like every other client. */
  readonly page: Page | undefined;
  /** The methods of the option, checked. */
  readonly methods: readonly PaymentMethod[];
  /** The attachments of the option, checked. */
  readonly attachments: readonly PaymentAttachment[];
}

/** @throws PaywallError INVALID_OPTION */
export function parseOrigin(origin: unknown): string {
  if (!isOrigin(origin)) throw invalidOption("origin must be only a scheme and a host, such as https://data.example");
  return origin;
}

/** @throws PaywallError INVALID_OPTION */
export function parseServiceUrl(service: unknown): string {
  const address = baseUrl(service);
  if (address !== undefined) return address;
  throw invalidOption("service must be the http(s) base URL of the service, such as https://pay.example/zk");
}

/** Without pinned token keys, the service's tokens are only as trustworthy as the connection to it. */
function parseService({ service, jwks }: PaywallOptions, chainId: bigint): string {
  const address = parseServiceUrl(service);
  if (jwks === undefined && !isSecureUrl(address, allowsDevelopment(process.env, chainId) ? chainId : undefined))
    throw invalidOption("service must be an https URL; to use plain http, pin its token keys with jwks");
  return address;
}

/** @throws PaywallError INVALID_OPTION */
export function parseDeployment(chain: Pick<PaywallChain, "chainId" | "pool">): Deployment {
  const { chainId, pool } = Object(chain) as PaywallChain;
  const id = typeof chainId === "bigint" ? chainId : BigInt(parseInteger(chainId, "chain.chainId", 1, 2 ** 52));
  return { chainId: id, pool: asOption("chain.pool", () => parseAddress(pool)) };
}

function parseChain(chain: PaywallChain) {
  const { rpcUrls, settleWaitMs = 2_000 } = Object(chain) as PaywallChain;
  if (
    !Array.isArray(rpcUrls) ||
    rpcUrls.length === 0 ||
    !rpcUrls.every((url) => /^https?:/.test(url) && URL.canParse(url))
  )
    throw invalidOption("chain.rpcUrls must be a list of one or more http(s) URLs");
  const deployment = parseDeployment(chain);
  const local = LOCAL_CHAIN_IDS.includes(deployment.chainId);
  const confirmations = parseInteger(chain.confirmations ?? (local ? 1 : 2), "chain.confirmations", 1, 64);
  const blockTimeMs = parseInteger(chain.blockTimeMs ?? (local ? 1_000 : 12_000), "chain.blockTimeMs", 100, 60_000);
  if (confirmations * blockTimeMs > MAX_CONFIRMATIONS_MS)
    throw invalidOption(
      `${confirmations} confirmations of ${blockTimeMs} ms take more than ${MAX_CONFIRMATIONS_MS} ms, so a payment that ` +
        "settled in time would be too old; lower chain.confirmations",
    );
  const wait = parseInteger(settleWaitMs, "chain.settleWaitMs", 0, 30_000);
  return { deployment, confirmations, blockTimeMs, settleWaitMs: wait };
}

const MEMORY = "sqlite::memory:";

/**
 * Servers without a shared store would each accept the same payment. So on chains that are not local, and in production, the
 * operator must name the store, and must write "memory" to choose an in-memory one.
 */
function parseStore(store: unknown, chainId: bigint): Pick<Config, "inMemory" | "storeUrl"> {
  const local = allowsDevelopment(process.env, chainId);
  if (store === "memory" || (local && (store === undefined || store === MEMORY)))
    return { inMemory: true, storeUrl: MEMORY };
  if (store === undefined || store === MEMORY)
    throw invalidOption(
      `${store === undefined ? "store is missing" : `store is ${MEMORY}`}, but chain ${chainId} is not a local chain, or NODE_ENV is production: ` +
        "all servers of this wallet must remember used payments in one store, or each of them accepts the same payment. " +
        'Write store: "sqlite:PATH" for servers on one machine, store: "postgres://USER@HOST/DATABASE" for several ' +
        'machines, or store: "memory" for a single process that refuses payments made before it started',
    );
  if (typeof store !== "string") throw invalidOption('store must be "memory", "sqlite:PATH" or "postgres://.."');
  return { inMemory: false, storeUrl: store };
}

const OPTIONS = {
  ...{ price: true, routes: true, free: true },
  ...{ origin: true, recipient: true, service: true, chain: true, store: true, keys: true, jwks: true, issuer: true },
  ...{ methods: true, attachments: true, page: true, discovery: true, cors: true, onEvent: true, clock: true },
} satisfies Record<keyof PaywallOptions, true>;

/** @throws PaywallError INVALID_OPTION */
export function parseConfig(options: PaywallOptions): Config {
  if (typeof options !== "object" || options === null) throw invalidOption("a paywall's options must be an object");
  // An option may be the misspelt name of one that adds a way to pay. If it were ignored, handlers would see the headers
  // that pay.
  assertFields(options, "options", Object.keys(OPTIONS));
  const chain = parseChain(options.chain);
  const origin = parseOrigin(options.origin);
  const recipients = parseRecipients(options, chain.deployment);
  const store = parseStore(options.store, chain.deployment.chainId);
  const service = parseService(options, chain.deployment.chainId);
  const methods = parseMethods(options.methods);
  const attachments = parseAttachments(options.attachments, methods);
  return {
    origin,
    service,
    recipients,
    ...chain,
    ...store,
    methods,
    attachments,
    cors: parseCors(options.cors, headerNames([PRIVATE_METHOD, ...methods], attachments)),
    listings: new Listings(options.discovery),
    page: parsePage(options.page, chain.deployment.chainId),
  };
}
