import type { WithdrawalCall } from "@sotto/protocol";
import { validUntilOf, type WireBundle } from "@sotto/protocol";
import type { DepositRequest } from "../chain/calls.ts";
import { wait } from "../wait.ts";
import { normaliseServiceUrl, requireAllowed, requireSecure } from "./address.ts";
import {
  type Outcome,
  type PhoneMapping,
  readArtifactSet,
  readOutcome,
  readPhoneMapping,
  readVerification,
  type Settlement,
  type VerifiedPayment,
} from "./answers.ts";
import { ServiceError } from "./errors.ts";
import { askJson, type Json } from "./http.ts";

export interface ServiceOptions {
  /** Default: the global fetch. */
  fetch?: typeof fetch;
  /** Milliseconds one answer may take; 30,000 if left out. Settlements get what the service may hold them for on top. */
  timeoutMs?: number;
  /** Base addresses that may be used; left out: the one given. */
  allow?: readonly string[];
  /** The chain that is paid on. Where it is a local one, plain http leads to any address; else to this machine alone. */
  chainId?: bigint;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface LookupOptions extends CallOptions {
  /** What a registry that answers signed lookups only asks for. */
  headers?: Readonly<Record<string, string>>;
}

export interface FollowOptions extends CallOptions {
  /** Called whenever the service says that it is still pending. */
  onPending?: (pending: { id?: string; txSignature: string }) => void;
}

const TIMEOUT_MS = 30_000;
/**
 * A settlement is asked for in short requests: a connection that is held for minutes is lost to any proxy, sleeping
 * machine or change of network in between. A service that does not know the preference may hold the request all the same.
 */
const PREFER = "respond-async, wait=20";
/** Longest time a service holds a request for a settlement, ms. */
const HELD_MS = 300_000;
/** Longest time to come back to a service that is busy, ms. */
const BUSY_MS = 30_000;
/** A payment is looked for a while longer than it can be mined: its confirmations take 60 s at most. */
const GRACE_MS = 90_000;
/** Longest time a deposit or withdrawal is followed: their dates may be a day away. */
const FOLLOW_MS = 10 * 60_000;
const FIRST_LOOK_MS = 200;
const LONGEST_LOOK_MS = 2_000;

/**
 * A service of the interface (docs/api.md), over fetch: in Node and in browsers. What it answers is read strictly, no
 * redirect is followed, and nothing it says is proof of anything: `purchase` looks at the chain.
 */
export class SottoService {
  /** Base address without a slash at its end. */
  readonly url: string;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;

  /**
   * @param url base address, with its base path
   * @throws ServiceError SERVICE_NOT_ALLOWED, SERVICE_NOT_SECURE
   */
  constructor(url: string, { fetch: send, timeoutMs = TIMEOUT_MS, allow, chainId }: ServiceOptions = {}) {
    this.url = normaliseServiceUrl(url);
    if (allow !== undefined) requireAllowed(this.url, allow);
    requireSecure(this.url, chainId);
    // Called as a function: a browser's fetch refuses any other `this` than the window.
    this.#fetch = send ?? ((input, init) => fetch(input, init));
    this.#timeoutMs = timeoutMs;
  }

  /** @returns the token that settles this payment @throws ServiceError PAYMENT_INVALID (details.reason) */
  async verify(bundle: WireBundle, { signal }: CallOptions = {}): Promise<VerifiedPayment> {
    return readVerification(await this.#post("verify", bundle, signal));
  }

  /**
   * Settles what was verified, by the six fields of the interface, and follows it until it is settled or its date has
   * passed. With the same token the outcome is the same, so it may be called again.
   * @throws ServiceError NOT_SETTLED (details.reason), SETTLEMENT_PENDING
   */
  async settle(bundle: WireBundle, paymentToken: string, options: FollowOptions = {}): Promise<Settlement> {
    const { proof, publicSignals, encryptedAmount, recipientPublicKey, resourceUrl, timestamp } = bundle;
    const fields = { proof, publicSignals, encryptedAmount, paymentToken, resource: resourceUrl, recipientPublicKey };
    const until = Number(validUntilOf(timestamp)) * 1000 + GRACE_MS;
    return this.#follow("settle", fields, until, options);
  }

  /** Hands in a signed deposit and follows it. @throws ServiceError NOT_SETTLED, SETTLEMENT_PENDING */
  async deposit(request: DepositRequest, options: FollowOptions = {}): Promise<Settlement> {
    return this.#follow("deposit", request, Number(request.validBefore) * 1000 + GRACE_MS, options);
  }

  /** Hands in a withdrawal or a merge and follows it. @throws ServiceError NOT_SETTLED, SETTLEMENT_PENDING */
  async withdraw(call: WithdrawalCall, options: FollowOptions = {}): Promise<Settlement> {
    return this.#follow("withdraw", call, Number(call.validUntil) * 1000 + GRACE_MS, options);
  }

  /** What became of something that was handed in. @param id of its settlement */
  async status(id: string, { signal }: CallOptions = {}): Promise<Outcome> {
    return readOutcome(await this.#get(`settle/${encodeURIComponent(id)}`, signal));
  }

  /** Name of the set of keys that it verifies with: also tells whether there is a service at this address. */
  async artifactSet({ signal }: CallOptions = {}): Promise<string> {
    return readArtifactSet(await this.#get("circuits", signal));
  }

  /** Who has a phone number, as the registry says: compare it, its signature above all, before anything is paid. */
  async resolve(phone: string, { signal, headers = {} }: LookupOptions = {}): Promise<PhoneMapping> {
    return readPhoneMapping(await this.#get(`phone/resolve/${encodeURIComponent(phone)}`, signal, headers));
  }

  /** Links a phone number: the four fields of the interface, and what the registry knows beside them. */
  async link(request: Json, { signal }: CallOptions = {}): Promise<Json> {
    return this.#post("phone/link", request, signal);
  }

  /** Shows the code that was sent to a phone. */
  async phoneVerify(request: Json, { signal }: CallOptions = {}): Promise<Json> {
    return this.#post("phone/verify", request, signal);
  }

  async #follow(path: string, body: object, date: number, options: FollowOptions): Promise<Settlement> {
    const { signal, onPending } = options;
    const until = Math.min(Number.isFinite(date) ? date : Number.POSITIVE_INFINITY, Date.now() + FOLLOW_MS);
    const begin = async () =>
      readOutcome(await this.#post(path, body, signal, this.#timeoutMs + HELD_MS, { prefer: PREFER }));
    let outcome = await begin();
    for (let pause = FIRST_LOOK_MS; outcome.status === "pending"; pause = Math.min(pause * 1.5, LONGEST_LOOK_MS)) {
      onPending?.(outcome);
      const { id, txSignature } = outcome;
      if (Date.now() + pause > until)
        throw new ServiceError("SETTLEMENT_PENDING", `${path} was not settled in time: it may still be`, {
          txSignature,
          ...(id === undefined ? {} : { id }),
        });
      await wait(pause, signal);
      // Asked under its id at the address that was allowed, never at one that an answer names.
      outcome = id === undefined ? await begin() : await this.status(id, signal ? { signal } : {});
    }
    if (outcome.status === "success") {
      const { status: _, ...settlement } = outcome;
      return settlement;
    }
    const { reason, id } = outcome;
    throw new ServiceError("NOT_SETTLED", `the service says that the ${path} failed: ${reason}`, {
      reason,
      ...(id === undefined ? {} : { id }),
    });
  }

  #get(path: string, signal: AbortSignal | undefined, headers: Readonly<Record<string, string>> = {}): Promise<Json> {
    return this.#ask(path, { headers }, signal, this.#timeoutMs);
  }

  #post(
    path: string,
    body: object,
    signal: AbortSignal | undefined,
    timeoutMs = this.#timeoutMs,
    preferences: Readonly<Record<string, string>> = {},
  ): Promise<Json> {
    const headers = { "content-type": "application/json", accept: "application/json", ...preferences };
    return this.#ask(path, { method: "POST", headers, body: JSON.stringify(body) }, signal, timeoutMs);
  }

  #ask(path: string, init: RequestInit, signal: AbortSignal | undefined, timeoutMs: number): Promise<Json> {
    const name = `${this.url}/${path.replace(/(?<=^phone\/resolve\/).*/, "..")}`;
    const until = Date.now() + BUSY_MS;
    return askJson(this.#fetch, `${this.url}/${path}`, init, { name, signal, timeoutMs, until });
  }
}
