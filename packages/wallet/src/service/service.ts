import { delay } from "@sotto/chain";
import type { DepositRequest } from "@sotto/chain/ethers";
import {
  type DeploymentManifest,
  foreign,
  message,
  validUntilOf,
  type WireBundle,
  type WithdrawalCall,
} from "@sotto/protocol";
import { ServiceClientError } from "./errors.ts";
import { askJson, type Json } from "./http.ts";
import {
  NO_REASON,
  type Outcome,
  type PhoneMapping,
  parseArtifactSet,
  parseManifest,
  parseOutcome,
  parsePhoneMapping,
  parseVerification,
  type Settlement,
  type VerifiedPayment,
} from "./responses.ts";
import { assertServiceAllowed, assertServiceSecure, normalizeServiceUrl } from "./url.ts";

/** Options for requests to the service. */
export interface ServiceOptions {
  /** Default: the global fetch. */
  fetch?: typeof fetch | undefined;
  /**
   * Timeout of one response, ms. Default: 30,000. For settlements, the time that the service may hold the request is
   * added.
   */
  timeoutMs?: number | undefined;
  /** Base URLs that are allowed. Default: only the given URL. */
  allow?: readonly string[] | undefined;
  /**
   * The chain of the pool. On a local chain, plain http is allowed to any address; on other chains, only to this
   * machine.
   */
  chainId?: bigint | undefined;
}

/** Options of one request to the service. */
export interface CallOptions {
  /** Aborts the request. The service may have processed it. */
  signal?: AbortSignal | undefined;
}

/** Options of a request to verify. */
export interface VerifyOptions extends CallOptions {
  /** Further fields of the request, for extensions of the service. They replace none of the payment's. Default: none. */
  fields?: Readonly<Record<string, string>> | undefined;
}

export interface LookupOptions extends CallOptions {
  /** Headers of a signed lookup. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Options for waiting for a settlement. */
export interface FollowOptions extends CallOptions {
  /** Called each time the service answers that the settlement is still pending. */
  onPending?: ((pending: { id?: string | undefined; txSignature: string }) => void) | undefined;
}

const TIMEOUT_MS = 30_000;
/**
 * Settlements are polled in short requests: a proxy, a sleeping machine or a network change would break a connection
 * that is held for minutes. A service that ignores the preference may still hold the request.
 */
const PREFER = "respond-async, wait=20";
/** Maximum time that a service holds a request for a settlement, ms. */
const HELD_MS = 300_000;
/** Maximum time to retry a busy service, ms. */
const BUSY_MS = 30_000;
/** Time for which the client still waits for a payment after its deadline, ms: its confirmations take at most 60 s. */
const GRACE_MS = 90_000;
/** Maximum time to follow a deposit or withdrawal, ms: their deadlines may be a day away. */
const FOLLOW_MS = 10 * 60_000;
const FIRST_LOOK_MS = 200;
const MAX_LOOK_MS = 2_000;

/**
 * Client of a service (docs/api.md) over fetch, in Node and in browsers. It parses responses strictly and follows no
 * redirects. A response proves nothing: `purchase` checks the chain.
 */
export class SottoService {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;

  /**
   * @param url base URL, including its base path
   * @throws ServiceClientError SERVICE_NOT_ALLOWED, SERVICE_NOT_SECURE
   */
  constructor(url: string, { fetch: send, timeoutMs = TIMEOUT_MS, allow, chainId }: ServiceOptions = {}) {
    this.url = normalizeServiceUrl(url);
    if (allow !== undefined) assertServiceAllowed(this.url, allow);
    assertServiceSecure(this.url, chainId);
    // Called as a function: a browser's fetch refuses any `this` other than the window.
    this.#fetch = send ?? ((input, init) => fetch(input, init));
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Asks the service to check a payment and to reserve its note.
   * @returns the token that settles this payment @throws ServiceClientError PAYMENT_INVALID (details.reason)
   */
  async verify(bundle: WireBundle, { signal, fields }: VerifyOptions = {}): Promise<VerifiedPayment> {
    return parseVerification(await this.#post("verify", { ...fields, ...bundle }, signal));
  }

  /**
   * Settles a verified payment with the six fields of the interface, and waits until it is settled or its deadline has
   * passed. Repeating the call with the same token returns the same outcome.
   * @throws ServiceClientError NOT_SETTLED (details.reason), SETTLEMENT_PENDING
   */
  async settle(bundle: WireBundle, paymentToken: string, options: FollowOptions = {}): Promise<Settlement> {
    const { proof, publicSignals, encryptedAmount, recipientPublicKey, resourceUrl, timestamp } = bundle;
    const fields = { proof, publicSignals, encryptedAmount, paymentToken, resource: resourceUrl, recipientPublicKey };
    const until = Number(validUntilOf(timestamp)) * 1000 + GRACE_MS;
    return this.#follow("settle", fields, until, options);
  }

  /** Submits a signed deposit and waits for its outcome. @throws ServiceClientError NOT_SETTLED, SETTLEMENT_PENDING */
  async deposit(request: DepositRequest, options: FollowOptions = {}): Promise<Settlement> {
    return this.#follow("deposit", request, Number(request.validBefore) * 1000 + GRACE_MS, options);
  }

  /**
   * Submits a withdrawal or a merge and waits for its outcome.
   * @throws ServiceClientError NOT_SETTLED, SETTLEMENT_PENDING
   */
  async withdraw(call: WithdrawalCall, options: FollowOptions = {}): Promise<Settlement> {
    return this.#follow("withdraw", call, Number(call.validUntil) * 1000 + GRACE_MS, options);
  }

  /** The outcome of a payment, deposit or withdrawal that was submitted. @param id the service's id for it */
  async status(id: string, { signal }: CallOptions = {}): Promise<Outcome> {
    return parseOutcome(await this.#get(`settle/${encodeURIComponent(id)}`, signal));
  }

  /** Name of the artifact set that the service verifies with. Also shows whether a service answers at this URL. */
  async artifactSet({ signal }: CallOptions = {}): Promise<string> {
    return parseArtifactSet(await this.#get("circuits", signal));
  }

  /**
   * The manifest of the service's pool. It decides where deposits go: on a chain that is not local, compare it with a
   * manifest from another source.
   */
  async deployment({ signal }: CallOptions = {}): Promise<DeploymentManifest> {
    return parseManifest(await this.#get("deployment", signal));
  }

  /** The registry's response for a phone number. Check it, especially its signature, before paying. */
  async resolve(phone: string, { signal, headers = {} }: LookupOptions = {}): Promise<PhoneMapping> {
    return parsePhoneMapping(await this.#get(`phone/resolve/${encodeURIComponent(phone)}`, signal, headers));
  }

  /** Links a phone number, with the four fields of the interface and the registry's optional ones. */
  async link(request: Json, { signal }: CallOptions = {}): Promise<Json> {
    return this.#post("phone/link", request, signal);
  }

  /** Submits the code that was sent to a phone. */
  async phoneVerify(request: Json, { signal }: CallOptions = {}): Promise<Json> {
    return this.#post("phone/verify", request, signal);
  }

  /**
   * Posts JSON to an endpoint of an extension of the service. The endpoint must be idempotent: the request is retried.
   * @param path below the base URL, without a leading slash @returns the answer, of which nothing is checked
   */
  post(path: string, body: object, { signal }: CallOptions = {}): Promise<Json> {
    return this.#post(path, body, signal);
  }

  async #follow(path: string, body: object, deadline: number, options: FollowOptions): Promise<Settlement> {
    const { signal, onPending } = options;
    const until = Math.min(Number.isFinite(deadline) ? deadline : Number.POSITIVE_INFINITY, Date.now() + FOLLOW_MS);
    const begin = async () =>
      parseOutcome(await this.#post(path, body, signal, this.#timeoutMs + HELD_MS, { prefer: PREFER }));
    let outcome = await begin();
    for (let pause = FIRST_LOOK_MS; outcome.status === "pending"; pause = Math.min(pause * 1.5, MAX_LOOK_MS)) {
      onPending?.(outcome);
      const { id, txSignature } = outcome;
      if (Date.now() + pause > until)
        throw new ServiceClientError(
          "SETTLEMENT_PENDING",
          `the ${path} was not settled in time, but may still be; call again`,
          { txSignature, ...(id !== undefined && { id }) },
        );
      await delay(pause, signal);
      // Polled by id at the allowed base URL, never at a URL from a response.
      outcome = id === undefined ? await begin() : await this.status(id, { signal });
    }
    if (outcome.status === "success") {
      const { status: _, ...settlement } = outcome;
      return settlement;
    }
    const { reason, id } = outcome;
    throw new ServiceClientError(
      "NOT_SETTLED",
      message`the service says that the ${path} failed: ${reason === NO_REASON ? reason : foreign(reason)}`,
      { reason, ...(id !== undefined && { id }) },
    );
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
