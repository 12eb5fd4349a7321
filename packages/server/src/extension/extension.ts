// Extensions add routes, tables, settings and background work to a service, which knows none of them.
import type { Database, Migrations } from "@sotto/database";
import type { Address, ErrorTable } from "@sotto/protocol";
import type { FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import type { Environment } from "../config/read.ts";
import type { SettingTable, SettingValues } from "../config/setting.ts";
import type { Need } from "../http/health.ts";
import type { App } from "../http/types.ts";
import type { ServiceLog } from "../ops/log.ts";
import type { ServiceQuotas } from "./quotas.ts";
import type { Tracing } from "./tracing.ts";

/** The pool that a service settles in, and what is known of the service before it starts. */
export interface ServicePlace {
  /** EIP-155 id. */
  readonly chainId: number;
  /** Address of the pool, lower case. */
  readonly pool: Address;
  /** Public base URL; undefined if not configured. */
  readonly publicUrl: string | undefined;
  /** Whether settings and keys for development are allowed: on a local chain, unless NODE_ENV is production. */
  readonly local: boolean;
}

/** Tables of an extension in the service's database. */
export interface ExtensionTables {
  /** The tables that the migrations create. No other extension may have one of these names. */
  readonly names: readonly string[];
  /** Their names are unique among all extensions and the service, such as "prices-0001". */
  readonly migrations: Migrations;
}

/** A field of the requests to /verify that an extension reads beside the payment. It is optional, and a text. */
export interface VerifyField {
  /** No field of the interface or of another extension: 1 to 32 letters, the first in lower case. */
  readonly name: string;
  /** Maximum length, characters. */
  readonly maxLength: number;
  /** For the OpenAPI document. */
  readonly description: string;
}

/** A payment that `OpenExtension.admit` decides on. Its note is not spent. Its proofs are checked meanwhile: if they are wrong, it is refused all the same. */
export interface AdmittedPayment {
  /** Nullifier of the note that it spends, a field element. */
  readonly nullifier: bigint;
  /** The recipient's wallet, as the payer names it. The recipient's server compares it with its own. */
  readonly wallet: Address;
  /** Owner tag of the address that is paid, the same in all months, a field element. It decides whose the money is. */
  readonly ownerTag: bigint;
  /** When it was made, Unix ms. */
  readonly timestamp: number;
  /** The id under which quotas count the client. */
  readonly client: string;
}

/** Extends a service. The service refuses to start if two extensions have the same name, setting, table or route. */
export interface ServiceExtension<S extends SettingTable = SettingTable> {
  /** a-z and -, at most 32 characters. Its readiness check and errors at start carry this name. */
  readonly name: string;
  /** Environment variables. */
  readonly settings?: S;
  /** Checks the settings against each other. @returns problems, sentences that begin with a variable's name */
  problems?(values: SettingValues<S>, place: ServicePlace, environment: Environment): readonly string[];
  /** Default: no tables. */
  readonly tables?: ExtensionTables;
  /** The errors of its routes. A code that the service has too must have the same definition. */
  readonly errors?: ErrorTable;
  /** What `admit` decides on: the field of /verify that it reads, and the codes of its errors, which `errors` defines. Default: none. */
  readonly admits?: { readonly field: VerifyField; readonly codes: readonly string[] };
  /** Tag of its routes in the OpenAPI document. */
  readonly tag?: { readonly name: string; readonly description: string };
  /** Request headers that scripts of web pages may send to its routes. */
  readonly headers?: readonly string[];
  /** What its readiness check tells, such as "whether the price feed works". Default: it has none. */
  readonly readiness?: string;
  /** Registers its routes for the OpenAPI document. Nothing is open, and no request will come. */
  documented?(app: App): void;
  /** Opens it, after the database and before the server listens. An error stops the service. */
  open(core: ServiceCore<S>): Promise<OpenExtension<S>> | OpenExtension<S>;
}

/** Settings that were read again, and the chain's nodes, for an extension that is open. */
export interface ReloadedSettings<S extends SettingTable = SettingTable> {
  /** Those that are not live have the values of the start. */
  readonly settings: SettingValues<S>;
  readonly nodes: ServiceCore["nodes"];
}

/** An open extension. */
export interface OpenExtension<S extends SettingTable = SettingTable> {
  /** Registers its routes below the service's base path. */
  routes?(app: App): void;
  /**
   * Decides whether a payment may be settled, once its note and its terms are checked, while its proofs are. Its error refuses the payment,
   * in either format, before its note is reserved: nothing is paid. It is not asked again about a payment whose note is reserved
   * for it. Needs `admits`.
   * @param shown the value of the field, from the payer; undefined if it is absent
   */
  admit?(payment: AdmittedPayment, shown: string | undefined): Promise<void>;
  /** Records the steps of payments. Only one extension may. */
  readonly tracing?: Tracing;
  /** Whether it works now; needs `readiness`. */
  readonly ready?: Need;
  /**
   * Checks new values of its live settings, and the chain's nodes, when the service reads its settings again. Needed if it has live
   * settings, or uses the nodes. Its error refuses the reload, and then nothing may have changed.
   * @returns applies them, and must not throw
   */
  reload?(next: ReloadedSettings<S>): Promise<() => void> | (() => void);
  /** Begins work in the background; called once the server listens. */
  start?(): void;
  /** Ends its work; called after the last request. */
  close?(): Promise<void> | void;
}

/** What a service offers to its extensions. */
export interface ServiceCore<S extends SettingTable = SettingTable> {
  readonly settings: SettingValues<S>;
  readonly place: ServicePlace;
  /** JSON-RPC nodes of the chain, in order of preference, and the timeout of a request. */
  readonly nodes: { readonly urls: readonly string[]; readonly timeoutMs: number };
  /** The service's database, with the caller's types of the extension's tables. */
  database<Schema>(): Omit<Database<Schema>, "close">;
  /**
   * Checks a proof with the keys of the service's set, together with others that wait.
   * @param proof eight decimal words in the wire's order
   * @param signals the public signals in order, decimal
   * @param client the id under which quotas count the client
   * @returns whether it is valid; false for a malformed one
   * @throws SottoError ENGINE_OVERLOADED, ENGINE_FAILED, ENGINE_CLOSED; CIRCUIT_UNKNOWN if the set is older than the circuit
   */
  verifyProof(circuit: string, proof: readonly string[], signals: readonly string[], client: string): Promise<boolean>;
  /** Limits per client and day, in the service's database. */
  readonly quotas: ServiceQuotas;
  /** Prometheus metrics of the service. Names begin with `sotto_`; a name that is taken is refused at start. */
  readonly metrics: Registry;
  readonly log: ServiceLog;
  /** Now, ms. */
  readonly clock: () => number;
  /** The id under which quotas count the client of a request. */
  readonly clientOf: (request: Pick<FastifyRequest, "ip">) => string;
  /** The base URL that clients use: the public one, or the address that the server will listen on. */
  readonly address: () => Promise<string>;
}
