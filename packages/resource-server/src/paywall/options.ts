// The options of a paywall.
import type { MonthAddresses, ViewingKeys } from "@sotto/protocol";
import type { ArtifactsLock } from "@sotto/prover";
import type { PriceOptions } from "../routes/options.ts";
import type { PaymentAttachment } from "./attachment.ts";
import type { ListedRoute } from "./discovery.ts";
import type { PaywallEvent } from "./events.ts";
import type { PaymentMethod } from "./method.ts";

/** The recipient with an address of each month. The viewing key of a month reads the payments to that month's address alone. */
export interface MonthRecipient {
  /**
   * What `signAddresses` of @sotto/client and `sotto address schedule` return, parsed by `parseMonthAddresses`. Of several,
   * the paywall asks for payments to those with the highest sequence number, and accepts what was paid to the others.
   */
  readonly addresses: MonthAddresses | readonly MonthAddresses[];
  /**
   * Lets the paywall read the amount of each payment (`PaidProof.amount`): the keys of this month and the previous one, from
   * `parseViewingKeys` or `viewingKeysFile`. A function is called at the start and for each payment, so that a new month's key
   * needs no new start. If it fails later, the keys of before stay and `onEvent` gets `trouble`. Without the key of its month, a payment is accepted with an unknown amount. Default: none.
   */
  readonly viewingKeys?: ViewingKeys | (() => ViewingKeys | undefined) | undefined;
  /**
   * The lasting address at which this server was paid before it had addresses of months. Payments to it still count, with an
   * unknown amount, and nobody is asked for another. Default: none.
   */
  readonly lasting?: Omit<PaywallRecipient, "viewingKey"> | undefined;
}

/**
 * The recipient with its lasting address, and the wallet's signature over it (`bindingTypedData`). Its viewing key reads every
 * payment that it ever receives.
 */
export interface PaywallRecipient {
  /** Address of the account that signed, 20 bytes as hex with 0x. */
  readonly wallet: string;
  /** 64 bytes, hex with 0x. */
  readonly shieldedAddress: string;
  /** The wallet's EIP-712 signature over its shielded address, hex with 0x; at most 400 days old. */
  readonly signature: string;
  /** When the binding was signed: Unix seconds, a multiple of 300. The signature is valid for 400 days. */
  readonly issuedAt: number;
  /** Public base URL of the phone registry that the binding names. Default: none. */
  readonly service?: string;
  /** E.164. Default: none. */
  readonly phone?: string;
  /**
   * Lets the paywall read the amount of each payment (`PaidProof.amount`). The key can decrypt every payment to the
   * wallet.
   */
  readonly viewingKey?: bigint;
}

/** The chain and the pool. Fields other than `rpcUrls` are those of a deployment's manifest. */
export interface PaywallChain {
  /** JSON-RPC nodes of the chain, the preferred one first. */
  readonly rpcUrls: readonly string[];
  /** EIP-155 id of the chain. The paywall does not open if the nodes are on another one. */
  readonly chainId: bigint | number;
  /** The ShieldedPool. */
  readonly pool: string;
  /** Key set of the pool's verifiers, `ceremony/NAME`. Default: the development set, for local chains only. */
  readonly set?: string;
  /**
   * Required blocks, including the payment's own; at most as many as the service waits for. Default: 2, on local chains 1.
   */
  readonly confirmations?: number;
  /** Time between blocks, ms; all confirmations together may take 60 s. Default: 12000, on local chains 1000. */
  readonly blockTimeMs?: number;
  /** Maximum wait for a payment that no node shows yet, ms. Default: 2000. */
  readonly settleWaitMs?: number;
  /**
   * Expected token of the pool, and its decimals. The paywall reads both from the chain and does not open if they
   * differ.
   */
  readonly token?: string;
  /** Decimals of the token, 0 to 77. Default: read from the chain. */
  readonly decimals?: number;
}

/** What a paywall charges, for whom, and how it checks payments. */
export interface PaywallOptions extends PriceOptions {
  /**
   * Public origin of the resource server, scheme and host. Payments are bound to it; it is never taken from a request.
   */
  readonly origin: string;
  /** The wallet that is paid, with its signatures over its addresses of months, or over its lasting address. */
  readonly recipient: MonthRecipient | PaywallRecipient;
  /** Base URL of the service that verifies and settles; ends with `/zk`. */
  readonly service: string;
  /** The chain, the pool and the nodes. */
  readonly chain: PaywallChain;
  /**
   * Stores the used payments: `sqlite:PATH` for one machine, `postgres://..` for several; all servers of one wallet
   * share one store. "memory" is for a single process: it refuses payments that were made before it started. Required,
   * except on local chains, where the default is "memory".
   */
  readonly store?: string;
  /** Pinned hashes of the verification keys. Default: those compiled in for `chain.set`. */
  readonly keys?: ArtifactsLock;
  /** Pins the public keys of the service's tokens (a JWK set). Default: the keys that the service publishes. */
  readonly jwks?: { readonly keys: readonly object[] };
  /** `iss` of the service's tokens. Default: its base URL or `urn:sotto:CHAIN_ID:POOL`. */
  readonly issuer?: string;
  /** Called for each event. Its exceptions are ignored. */
  readonly onEvent?: (event: PaywallEvent) => void;
  /** Other ways to pay, besides the private payment. If a request shows several, the first one decides. */
  readonly methods?: readonly PaymentMethod[];
  /**
   * What a 402 asks payers to show beside a private payment. Handlers see it as a field of `payment`; it never decides whether the
   * payment counts. Default: none.
   */
  readonly attachments?: readonly PaymentAttachment[];
  /** Answers a browser's navigation with a page instead of JSON. Default: false. */
  readonly page?: boolean | PageOptions;
  /**
   * Routes for clients to find: their 402 describes them and their inputs in x402's extensions `bazaar` and `privacy`.
   * Default: none, and no 402 has these fields.
   */
  readonly discovery?: readonly ListedRoute[];
  /** Lets scripts on web pages of other origins send requests and pay. Default: no CORS headers. */
  readonly cors?: CorsOptions;
  /** Now, ms. */
  readonly clock?: () => number;
}

/** The page that people see. */
export interface PageOptions {
  /** Address of a web wallet, for the link "Open in wallet". Default: no link. */
  readonly wallet?: string;
  /** Name of the merchant, 1 to 80 characters. Default: the host of `origin`. */
  readonly name?: string;
}

/** Which web pages of other origins may send requests and pay. Credentials (cookies) are never allowed. */
export interface CorsOptions {
  /** Origins such as https://wallet.example; "*" for all. */
  readonly origins: readonly string[] | "*";
  /** Default: GET, HEAD, POST, PUT, PATCH, DELETE. */
  readonly methods?: readonly string[];
  /** Request headers besides those of payments. Default: Content-Type. */
  readonly allowedHeaders?: readonly string[];
  /**
   * Response headers besides WWW-Authenticate and Retry-After that scripts may read, with the longest origin at most 320
   * characters together. Default: none.
   */
  readonly exposedHeaders?: readonly string[];
  /** How long a browser may remember a preflight, seconds, 0 to 86400. Default: 7200. */
  readonly maxAge?: number;
  /** Whether pages of public origins may reach this server in a private network. Default: false. */
  readonly privateNetwork?: boolean;
}
