// Options, checked as far as they can be without asking anyone.
import {
  assertBinding,
  BASE8,
  baseUrl,
  type Deployment,
  decodeShieldedAddress,
  isSecureUrl,
  LOCAL_CHAIN_IDS,
  multiplyPoint,
  parseAddress,
  type Recipient,
  type ShieldedAddressBinding,
  SottoError,
} from "@sotto/protocol";
import { invalidOption } from "../errors.ts";
import type { PaywallChain, PaywallOptions } from "./options.ts";

/** What a payment's confirmations may take, ms: what settles in time must still be fresh when it is shown. */
const LONGEST_CONFIRMATIONS_MS = 60_000;

export interface Config {
  readonly origin: string;
  /** Without a slash at its end. */
  readonly service: string;
  readonly recipient: Recipient;
  readonly binding: ShieldedAddressBinding;
  readonly signature: string;
  readonly deployment: Deployment;
  readonly confirmations: number;
  readonly blockTimeMs: number;
  readonly settleWaitMs: number;
  /** The store is in memory: a payment made before the start may have been used. */
  readonly forgetful: boolean;
  /** For @sotto/database. */
  readonly storeUrl: string;
}

function readInteger(value: unknown, name: string, least: number, most: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least || value > most)
    throw invalidOption(`${name} must be an integer from ${least} to ${most}`);
  return value;
}

/** Runs `read`; whatever it refuses is an option that is wrong. */
function asOption<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalidOption(`${name}: ${cause.message}`, cause);
  }
}

function readOrigin(origin: unknown): string {
  if (
    typeof origin !== "string" ||
    !/^https?:/.test(origin) ||
    !URL.canParse(origin) ||
    new URL(origin).origin !== origin
  )
    throw invalidOption("origin must be scheme and host as in https://data.example, with nothing behind them");
  return origin;
}

/** The service's word is worth as much as the connection to it. */
function readService({ service, jwks }: PaywallOptions, chainId: bigint): string {
  const address = baseUrl(service);
  if (address === undefined) throw invalidOption("service must be the http(s) base address of the service");
  if (jwks === undefined && !isSecureUrl(address, chainId))
    throw invalidOption("service must be an https address, or its token keys be given as jwks");
  return address;
}

function readChain(chain: PaywallChain) {
  const { rpcUrls, chainId, pool, settleWaitMs = 2_000 } = Object(chain) as PaywallChain;
  if (
    !Array.isArray(rpcUrls) ||
    rpcUrls.length === 0 ||
    !rpcUrls.every((url) => /^https?:/.test(url) && URL.canParse(url))
  )
    throw invalidOption("chain.rpcUrls must name at least one http(s) address");
  const id = typeof chainId === "bigint" ? chainId : BigInt(readInteger(chainId, "chain.chainId", 1, 2 ** 52));
  const local = LOCAL_CHAIN_IDS.includes(id);
  const confirmations = readInteger(chain.confirmations ?? (local ? 1 : 2), "chain.confirmations", 1, 64);
  const blockTimeMs = readInteger(chain.blockTimeMs ?? (local ? 1_000 : 12_000), "chain.blockTimeMs", 100, 60_000);
  if (confirmations * blockTimeMs > LONGEST_CONFIRMATIONS_MS)
    throw invalidOption(
      `${confirmations} confirmations of ${blockTimeMs} ms take more than ${LONGEST_CONFIRMATIONS_MS} ms: a payment that settled in time would be too old`,
    );
  const deployment = { chainId: id, pool: asOption("chain.pool", () => parseAddress(pool)) };
  const wait = readInteger(settleWaitMs, "chain.settleWaitMs", 0, 30_000);
  return { deployment, confirmations, blockTimeMs, settleWaitMs: wait };
}

function readRecipient({ recipient }: PaywallOptions, deployment: Deployment) {
  const {
    wallet,
    shieldedAddress,
    signature,
    issuedAt,
    service = "",
    phone = "",
    viewingKey,
  } = Object(recipient) as PaywallOptions["recipient"];
  const { chainId, pool } = deployment;
  const fields = { phone, wallet, key: shieldedAddress, chainId, pool, service, issuedAt } as ShieldedAddressBinding;
  const binding = asOption("recipient", () => assertBinding(fields));
  const shielded = decodeShieldedAddress(binding.key);
  if (viewingKey !== undefined && !reads(viewingKey, shielded.encryptionKey.x))
    throw invalidOption("recipient.viewingKey is not the key of recipient.shieldedAddress");
  const { encryptionKey, ownerTag } = shielded;
  return { binding, signature, recipient: { wallet: binding.wallet, keyX: encryptionKey.x, ownerTag } };
}

/** Never throws what it was given: that is a secret. */
function reads(viewingKey: unknown, keyX: bigint): boolean {
  try {
    return multiplyPoint(BASE8, viewingKey as bigint).x === keyX;
  } catch {
    return false;
  }
}

const MEMORY = "sqlite::memory:";

/**
 * Servers that do not share a store sell one payment once each. So outside of local chains the operator names the store;
 * a store in memory is named "memory", and nothing else.
 */
function readStore(store: unknown, chainId: bigint): Pick<Config, "forgetful" | "storeUrl"> {
  const local = LOCAL_CHAIN_IDS.includes(chainId);
  if (store === "memory" || (local && (store === undefined || store === MEMORY)))
    return { forgetful: true, storeUrl: MEMORY };
  if (store === undefined || store === MEMORY)
    throw invalidOption(
      `${store === undefined ? "store is missing" : `store is ${MEMORY}`}, but chain ${chainId} is not a local chain: ` +
        "all servers of this wallet must remember used payments in one store, or each of them sells for the same payment. " +
        'Write store: "sqlite:PATH" for servers on one machine, store: "postgres://USER@HOST/DATABASE" for several ' +
        'machines, or store: "memory" for a single process that refuses payments made before it started',
    );
  if (typeof store !== "string") throw invalidOption('store must be "memory", "sqlite:PATH" or "postgres://.."');
  return { forgetful: false, storeUrl: store };
}

/** @throws PaywallError INVALID_OPTION */
export function readConfig(options: PaywallOptions): Config {
  if (typeof options !== "object" || options === null) throw invalidOption("a paywall's options must be an object");
  const chain = readChain(options.chain);
  return {
    origin: readOrigin(options.origin),
    service: readService(options, chain.deployment.chainId),
    ...readRecipient(options, chain.deployment),
    ...chain,
    ...readStore(options.store, chain.deployment.chainId),
  };
}
