import { setTimeout as sleep } from "node:timers/promises";
import { type Chain, ChainError, connectChain, signatureCall } from "@sotto/chain";
import { type EthCall, parseAddress, SottoError } from "@sotto/protocol";
import { checkNodeVersion } from "@sotto/protocol/node-version";
import type { ArtifactsLock } from "@sotto/prover";
import { Proofs } from "../checks/proofs.ts";
import { Settlements } from "../checks/settlement.ts";
import { Tokens } from "../checks/token.ts";
import { PaymentClaims } from "../claims/claims.ts";
import { ClaimStore } from "../claims/store.ts";
import { StoredUses } from "../claims/uses.ts";
import { codeOf, invalidOption, PaywallError } from "../errors.ts";
import { Prices } from "../routes/prices.ts";
import { CIRCUITS, openVerifier, readLock } from "../service/keys.ts";
import { parseKeySet, TokenKeys } from "../service/token-keys.ts";
import { AddressNotice } from "./address-notice.ts";
import { circuitsOf } from "./attachments.ts";
import { Checks, claimId, REMEMBERED_MS } from "./checks.ts";
import { type Config, parseConfig } from "./config.ts";
import type { PaywallEvent } from "./events.ts";
import { createReporter, Opening } from "./opening.ts";
import type { PaywallOptions } from "./options.ts";
import { CorePaywall } from "./paywall.ts";
import { type PoolToken, readPoolToken } from "./pool-token.ts";
import { ServerClock } from "./server-clock.ts";
import type { Paywall } from "./types.ts";

/** Timeout of one request to a node, ms. */
const NODE_TIMEOUT_MS = 5_000;
/** Receipts are far smaller. */
const MAX_NODE_RESPONSE_BYTES = 4 * 1024 * 1024;

/** @throws PaywallError ADDRESS_MONTH_MISSING, RECIPIENT_NOT_SIGNED, CHAIN_UNAVAILABLE */
async function assertRecipient({ recipients }: Config, chain: Chain, now: number): Promise<void> {
  recipients.addressAt(now);
  await recipients.assertSigned(signatureCall(chain), now).catch((cause: unknown) => {
    if (!(cause instanceof SottoError) || cause instanceof PaywallError) throw cause;
    throw new PaywallError("CHAIN_UNAVAILABLE", cause.message, {}, { cause });
  });
}

/** @throws PaywallError POOL_MISMATCH, and the errors of `readPoolToken` */
async function assertToken(options: PaywallOptions, chain: Chain, pool: `0x${string}`): Promise<PoolToken> {
  const found = await readPoolToken(chain, pool);
  const { token = found.token, decimals = found.decimals } = options.chain;
  if (parseAddress(token, "chain.token") !== found.token || decimals !== found.decimals)
    throw new PaywallError(
      "POOL_MISMATCH",
      `the pool's token is ${found.token} with ${found.decimals} decimals, but the options say ${token} with ${decimals}`,
      { token: found.token, decimals: found.decimals },
    );
  return found;
}

type KeySet = Awaited<ReturnType<typeof parseKeySet>>;

/** @throws PaywallError INVALID_OPTION */
async function readJwks({ jwks }: PaywallOptions): Promise<KeySet | undefined> {
  if (jwks === undefined) return undefined;
  return parseKeySet(jwks).catch((cause: unknown) => {
    throw invalidOption(`jwks: ${(cause as Error).message}`, cause);
  });
}

interface Parts {
  readonly options: PaywallOptions;
  readonly config: Config;
  readonly prices: Prices;
  readonly lock: ArtifactsLock;
  /** The circuits of the attachments. */
  readonly attached: readonly string[];
  readonly jwks: KeySet | undefined;
  readonly claims: PaymentClaims;
  readonly clock: () => number;
  readonly startedAt: number;
  readonly chain: Chain;
  readonly serverClock: ServerClock;
  readonly report: (event: PaywallEvent) => void;
}

function chainOf(options: PaywallOptions, { deployment }: Config, clock: () => number): Chain {
  return connectChain({
    urls: options.chain.rpcUrls,
    chainId: deployment.chainId,
    clock,
    timeoutMs: NODE_TIMEOUT_MS,
    maxResponseBytes: MAX_NODE_RESPONSE_BYTES,
  });
}

/** @throws PaywallError CHAIN_UNAVAILABLE */
function recodeChain(cause: unknown): never {
  if (!(cause instanceof ChainError)) throw cause;
  throw new PaywallError("CHAIN_UNAVAILABLE", `no node tells the time: ${cause.message}`, {}, { cause });
}

/** The requests to chain and service. Each step can be retried. */
function openingSteps(
  { options, config, prices, lock, attached, jwks, claims, clock, startedAt, chain, serverClock, report }: Parts,
  assertSigned: (call: EthCall, token: PoolToken) => Promise<void>,
) {
  const { deployment, service, confirmations, blockTimeMs, settleWaitMs: waitMs } = config;
  const pool = parseAddress(deployment.pool);
  const onKeys = (error: unknown) => report({ event: "trouble", reason: codeOf(error), error });
  return {
    async readToken(): Promise<PoolToken> {
      const token = await assertToken(options, chain, pool);
      prices.parse(token.decimals);
      await assertRecipient(config, chain, clock()).catch(async (error: unknown) => {
        // By a wrong clock, good addresses and signatures have ended, or have not begun.
        throw (await serverClock.problem()) ?? error;
      });
      await assertSigned(signatureCall(chain), token);
      return token;
    },
    async openChecks(): Promise<Checks> {
      const verifier = await openVerifier(service, lock, [...CIRCUITS, ...attached]);
      const proofs = new Proofs(verifier, attached);
      await proofs.warm();
      const keys = jwks === undefined ? await TokenKeys.fetched(service, clock) : TokenKeys.pinned(jwks, clock);
      // A service without a configured public address uses the URN as its issuer.
      const issuers =
        options.issuer === undefined ? [service, `urn:sotto:${deployment.chainId}:${pool}`] : [options.issuer];
      return new Checks({
        config,
        claims,
        clock,
        startedAt,
        serverClock,
        proofs,
        viewingKeyOf: (address) => config.recipients.viewingKeyOf(address, onKeys),
        tokens: new Tokens(keys, issuers),
        settlements: new Settlements({ chain, pool, confirmations, blockTimeMs, waitMs, clock }),
      });
    },
    checkClock: () => serverClock.assertRight().catch(recodeChain),
  };
}

/**
 * Checks the options, opens the store, and returns a paywall that connects to chain and service in the background.
 * @throws the errors of `createPaywall` that need no request to chain or service
 */
export async function startPaywall(options: PaywallOptions): Promise<CorePaywall> {
  // Checked first: on an older Node, no options can work.
  const problem = checkNodeVersion(process.versions.node);
  if (problem !== undefined) throw new PaywallError("NODE_TOO_OLD", problem);
  const config = parseConfig(options);
  const { clock = Date.now } = options;
  const { deployment, service } = config;
  const prices = new Prices(options);
  const lock = await readLock(service, { ...deployment, set: options.chain.set }, options.keys);
  const attached = circuitsOf(config.attachments, lock);
  const jwks = await readJwks(options);
  const report = createReporter(options);
  const onError = (error: unknown) => report({ event: "trouble", reason: "STORE", error });
  const store = await ClaimStore.open({ url: config.storeUrl, clock, onError });
  const claims = new PaymentClaims(store, clock, onError);
  const startedAt = clock();
  const uses = new StoredUses({
    store,
    rememberedMs: REMEMBERED_MS,
    clock,
    onError,
    idOf: (nullifier) => claimId(deployment, nullifier),
    memoryStartedAt: config.inMemory ? startedAt : undefined,
  });
  const chain = chainOf(options, config, clock);
  const serverClock = new ServerClock({ chain, clock });
  const parts = { options, config, prices, lock, attached, jwks, claims, clock, startedAt, chain, serverClock, report };
  const createOpening = (assertSigned: (call: EthCall, token: PoolToken) => Promise<void>) =>
    new Opening({
      ...openingSteps(parts, assertSigned),
      report,
      pause: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
    });
  const { months } = config.recipients;
  const notice = months && new AddressNotice({ months, report, clock });
  const end = async () => {
    notice?.close();
    uses.close();
    await claims.close();
  };
  try {
    const paywall = await CorePaywall.open({ config, prices, report, clock, serverClock, uses, createOpening, end });
    notice?.start();
    return paywall;
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * Opens a paywall: reads the pool from the chain and the keys from the service, and checks the recipient's signature.
 * It rejects if an option is wrong. If chain or service cannot be reached, it resolves anyway and retries in the
 * background: see `Paywall.ready`.
 * @throws PaywallError; SottoError DEVELOPMENT_KEYS_REFUSED, ARTIFACT_SET_UNKNOWN,
 *   ARTIFACTS_LOCK_INVALID; DatabaseError
 */
export async function createPaywall(options: PaywallOptions): Promise<Paywall> {
  const paywall = await startPaywall(options);
  try {
    await paywall.attempted;
  } catch (error) {
    // The error is thrown below; without a handler, `ready` would reject with it a second time.
    paywall.ready.catch(() => undefined);
    await paywall.close();
    throw error;
  }
  return paywall;
}
