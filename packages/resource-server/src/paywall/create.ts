import { checkBindingSignature, checkBindingTime, parseAddress, SottoError } from "@sotto/protocol";
import { Nodes } from "../chain/nodes.ts";
import { type PoolFacts, readPool } from "../chain/pool.ts";
import { Proofs } from "../checks/proofs.ts";
import { Settlements } from "../checks/settlement.ts";
import { Tokens } from "../checks/token.ts";
import { Claims } from "../claims/claims.ts";
import { ClaimStore } from "../claims/store.ts";
import { StoredUses } from "../claims/uses.ts";
import { invalidOption, PaywallError } from "../errors.ts";
import { Prices } from "../routes/prices.ts";
import { openVerifier } from "../service/keys.ts";
import { readKeySet, TokenKeys } from "../service/token-keys.ts";
import { Checks, claimId, REMEMBERED_MS } from "./checks.ts";
import { type Config, readConfig } from "./config.ts";
import type { PaywallEvent, PaywallOptions } from "./options.ts";
import { CorePaywall } from "./paywall.ts";
import type { Paywall } from "./types.ts";

/** ms for one question to a node. */
const NODE_TIMEOUT_MS = 5_000;

/** @throws PaywallError RECIPIENT_NOT_SIGNED, CHAIN_UNAVAILABLE */
async function checkRecipient({ binding, signature }: Config, nodes: Nodes, now: number): Promise<void> {
  const refuse = (why: string, cause?: unknown) => new PaywallError("RECIPIENT_NOT_SIGNED", why, {}, { cause });
  try {
    checkBindingTime(binding, now);
    if (await checkBindingSignature(binding, signature, (call) => nodes.ask((node) => node.call(call)))) return;
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    if (cause.code === "BINDING_UNCHECKED") throw new PaywallError("CHAIN_UNAVAILABLE", cause.message, {}, { cause });
    throw refuse(`the recipient's signature cannot be used: ${cause.message}`, cause);
  }
  throw refuse("recipient.signature is not recipient.wallet's over this shielded address, chain and pool");
}

/** @throws PaywallError POOL_MISMATCH and what `readPool` throws */
async function checkToken(options: PaywallOptions, nodes: Nodes, pool: `0x${string}`): Promise<PoolFacts> {
  const found = await readPool(nodes, pool);
  const { token = found.token, decimals = found.decimals } = options.chain;
  if (parseAddress(token, "chain.token") !== found.token || decimals !== found.decimals)
    throw new PaywallError(
      "POOL_MISMATCH",
      `the pool's token is ${found.token} with ${found.decimals} decimals, not what chain.token and chain.decimals say`,
      { token: found.token, decimals: found.decimals },
    );
  return found;
}

async function openTokenKeys({ jwks }: PaywallOptions, { service }: Config, clock: () => number): Promise<TokenKeys> {
  if (jwks === undefined) return TokenKeys.fetched(service, clock);
  const keys = await readKeySet(jwks).catch((cause: unknown) => {
    throw invalidOption(`jwks: ${(cause as Error).message}`, cause);
  });
  return TokenKeys.pinned(keys, clock);
}

/** A hook that throws is the operator's trouble, and no request's. */
function reporter({ onEvent }: PaywallOptions): (event: PaywallEvent) => void {
  return (event) => {
    try {
      onEvent?.(event);
    } catch {
      // There is nobody left to tell.
    }
  };
}

/**
 * Opens a paywall: asks the chain for the pool, the service for its keys, and checks who is paid. It refuses to start
 * where it could not judge payments rightly.
 *
 * @throws PaywallError; SottoError DEVELOPMENT_KEYS_REFUSED, ARTIFACT_SET_UNKNOWN,
 *   ARTIFACTS_LOCK_INVALID; DatabaseError
 */
export async function createPaywall(options: PaywallOptions): Promise<Paywall> {
  const config = readConfig(options);
  const { clock = Date.now } = options;
  const { place, service, confirmations, blockTimeMs, settleWaitMs: waitMs } = config;
  const report = reporter(options);
  const onError = (error: unknown) => report({ event: "trouble", reason: "STORE", error });
  const nodes = new Nodes(options.chain.rpcUrls, place.chainId, NODE_TIMEOUT_MS, clock);
  const pool = parseAddress(place.pool);

  const token = await checkToken(options, nodes, pool);
  const prices = new Prices(options, token.decimals);
  await checkRecipient(config, nodes, clock());
  const verifier = await openVerifier(service, { ...place, set: options.chain.set }, options.keys);
  const proofs = new Proofs(verifier);
  await proofs.warm();
  const keys = await openTokenKeys(options, config, clock);
  const store = await ClaimStore.open({ url: config.storeUrl, clock, onError });

  // What a service signs with that was not told its public address.
  const issuers = options.issuer === undefined ? [service, `urn:sotto:${place.chainId}:${pool}`] : [options.issuer];
  const claims = new Claims(store, clock, onError);
  const checks = new Checks({
    ...{ config, claims, clock, viewingKey: options.recipient.viewingKey },
    tokens: new Tokens(keys, issuers),
    proofs,
    settlements: new Settlements({ nodes, pool, confirmations, blockTimeMs, waitMs, clock }),
  });
  const { onChallenge } = options;
  const hooks = onChallenge === undefined ? {} : { onChallenge };
  const uses = new StoredUses({
    ...{ store, remembered: REMEMBERED_MS, clock, onError },
    idOf: (nullifier) => claimId(place, nullifier),
    forgetfulSince: config.forgetful ? clock() : undefined,
  });
  const end = () => {
    uses.close();
    return claims.close();
  };
  return new CorePaywall({ config, token, prices, checks, hooks, report, clock, uses, end });
}
