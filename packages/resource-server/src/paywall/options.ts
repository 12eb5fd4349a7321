// What a shop configures.
import type { ArtifactsLock } from "@sotto/prover";
import type { PricedRequest, PriceOptions } from "../routes/options.ts";

/** Who is paid: the wallet, its shielded address, and the wallet's signature over both (`bindingTypedData`). */
export interface PaywallRecipient {
  readonly wallet: string;
  /** 64 bytes, hex with 0x. */
  readonly shieldedAddress: string;
  readonly signature: string;
  /** Seconds, a multiple of 300: when the binding was signed. It holds 400 days. */
  readonly issuedAt: number;
  /** Public base address of the phone registry the binding names; left out: none. */
  readonly service?: string;
  /** E.164; left out: none. */
  readonly phone?: string;
  /** Lets the paywall read what it was paid (`PaidProof.amount`). It can read everything the wallet receives. */
  readonly viewingKey?: bigint;
}

/** Beside `rpcUrls` the fields of a deployment's manifest. */
export interface PaywallChain {
  /** JSON-RPC nodes of the chain, the preferred one first. */
  readonly rpcUrls: readonly string[];
  readonly chainId: bigint | number;
  /** The ShieldedPool. */
  readonly pool: string;
  /** Set of the keys its verifiers have, `ceremony/NAME`; default: development, for local chains. */
  readonly set?: string;
  /** Blocks a payment's block must be at least deep, itself counted; no more than the service waits for. Default 1. */
  readonly confirmations?: number;
  /** The chain's time between blocks, ms; confirmations of it may take 60 s. Default 12000, on a local chain 1000. */
  readonly blockTimeMs?: number;
  /** How long a payment that a node does not show yet is waited for, ms. Default 2000. */
  readonly settleWaitMs?: number;
  /** The pool's token and its decimals; read from the chain, and refused where they differ. */
  readonly token?: string;
  readonly decimals?: number;
}

/** What a paywall tells whoever operates it. Nothing here carries a header, a token, a proof or a client's address. */
export interface PaywallEvent {
  readonly event:
    | "opening"
    | "opened"
    | "free"
    | "challenged"
    | "malformed"
    | "refused"
    | "paid"
    | "finished"
    | "unavailable"
    | "trouble";
  /** refused: the check that failed first; opening, unavailable and trouble: an error's code. */
  readonly reason?: string;
  /** finished: the status, 0 for an aborted request. */
  readonly status?: number;
  /** paid: how long the checks took, ms. */
  readonly ms?: number;
  /** opening, unavailable and trouble: for the operator's log. */
  readonly error?: unknown;
}

export interface PaywallOptions extends PriceOptions {
  /** Public origin of the shop, scheme and host: what payments are bound to. Never taken from a request. */
  readonly origin: string;
  readonly recipient: PaywallRecipient;
  /** Base address of the service that verifies and settles, ends with `/zk`. */
  readonly service: string;
  readonly chain: PaywallChain;
  /**
   * Where used payments are remembered: `sqlite:PATH` for one machine, `postgres://..` for several; all servers of one
   * wallet share one store. "memory" is for a single process: it refuses payments that were made before it started.
   * Required, except on local chains, where the default is "memory".
   */
  readonly store?: string;
  /** Hashes of the verification keys; default: those compiled in for `chain.set`. */
  readonly keys?: ArtifactsLock;
  /** Public keys of the service's tokens (a JWK set), in place of those it publishes. */
  readonly jwks?: { readonly keys: readonly object[] };
  /** `iss` of the service's tokens; default: its base address, or what it signs with where it has none configured. */
  readonly issuer?: string;
  /** Told of each decision. What it throws is ignored. */
  readonly onEvent?: (event: PaywallEvent) => void;
  /** Headers to add to a challenge (402 without a header): another dialect's, for one route. */
  readonly onChallenge?: (challenge: Challenge) => Record<string, string> | Promise<Record<string, string>>;
  /** Now, ms. */
  readonly clock?: () => number;
}

/** What a 402 asks for. */
export interface Challenge {
  readonly request: PricedRequest;
  /** Base units. */
  readonly price: bigint;
  readonly resource: string;
  /** The body of the answer. */
  readonly body: object;
}
