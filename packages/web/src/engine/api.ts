/**
 * The engine: a worker that holds the wallet. The page calls its methods and subscribes to its state.
 *
 * ```ts
 * import { engine, useEngine } from "./engine/page.ts"; // starts the worker when it is first used
 * await engine().start(config);
 * const state = useEngine(); // in React
 * ```
 *
 * - Only the worker has the seed, the keys and the store. The page sees the words only when a wallet is created, or
 *   when the user asks for them with the passphrase.
 * - Every method rejects with a `Failure` ({ code, message, details }), which `ErrorMessage` shows.
 * - Amounts are bigints in base units (10^-6 USDC), times are milliseconds since the Unix epoch unless a field says
 *   otherwise.
 * - Only one tab of a browser has the wallet (a Web Lock). Other tabs are in phase `elsewhere` until they call
 *   `takeOver`.
 * - All data comes from a node, the service and the resource servers, through their public interfaces.
 *
 * Other pages read: `state.wallet.history` (payments as this wallet knows them), `requests()` (what this browser sent to
 * the service), `viewingKeys()` (for the merchant page). To follow the pool without a wallet, use `PoolFollower` of
 * `@sotto/chain` in a separate worker: a page's long scan must not delay the wallet.
 */
import type { CashedOut, UnfinishedWithdrawal } from "@sotto/wallet";
import type { HostConfig, Limits } from "../config.ts";
import type { Failure } from "../errors.ts";

export type EngineState =
  /** The worker has no configuration yet. */
  | { readonly phase: "starting" }
  /** Another tab of this browser has the wallet. */
  | { readonly phase: "elsewhere"; readonly since: number | undefined }
  /** This browser has no wallet. */
  | { readonly phase: "empty" }
  | { readonly phase: "locked" }
  /** Reading the chain; `progress` counts blocks. */
  | { readonly phase: "opening"; readonly progress: { readonly block: number; readonly height: number } | undefined }
  /** The chain or pool is not the one that this wallet read before. */
  | { readonly phase: "replaced"; readonly failure: Failure }
  /** Opening failed, for example because no node answers. The engine retries. */
  | { readonly phase: "failed"; readonly failure: Failure }
  | { readonly phase: "open"; readonly wallet: WalletView };

export interface WalletView {
  /** The shielded address, 64 bytes as hex with 0x. */
  readonly address: string;
  readonly balance: WalletBalance;
  readonly limits: Limits;
  /** Reserved or spent on this UTC day. */
  readonly spentToday: bigint;
  /** Address of the test account, whose key is in the vault. */
  readonly account: { readonly address: string; readonly tokens: bigint | undefined };
  /** Newest first. */
  readonly history: readonly HistoryEntry[];
  readonly unfinished: readonly UnfinishedPayment[];
  /** Withdrawals that a reload, an error or the user interrupted, oldest first. */
  readonly withdrawals: readonly UnfinishedWithdrawal[];
  /** Prepaid tokens by merchant; not part of the balance. */
  readonly prepaid: readonly PrepaidView[];
  /** The curators' sets that the wallet follows. */
  readonly origins: readonly OriginView[];
  /** The newest block that was read. */
  readonly height: number;
  /** Why the chain could not be read the last time; undefined while the connection works. */
  readonly problem: Failure | undefined;
  /** The file of a circuit that is being downloaded, before the first proof that needs it. */
  readonly download:
    | { readonly circuit: string; readonly percent: number | undefined; readonly megabytes: number }
    | undefined;
  /** When the chain last replaced blocks that this wallet had read, and how many blocks were read again. */
  readonly reorganized: { readonly at: number; readonly blocks: number } | undefined;
}

/** What identifies a curator's set. */
export interface SetName {
  readonly curator: string;
  readonly name: string;
}

/** A set that the wallet follows, and how much of the unspent money is in it. */
export interface OriginView extends SetName {
  readonly url: string;
  readonly mirrors: readonly string[];
  /** The newest head that the wallet took; undefined before the first one. */
  readonly head: { readonly number: number; readonly at: number; readonly notes: number } | undefined;
  /** How many notes could be the one whose origin is shown. */
  readonly crowd: number;
  readonly minimumCrowd: number;
  readonly inSet: bigint;
  readonly waiting: bigint;
  readonly outside: bigint;
  /** Why money waits or is outside. */
  readonly reasons: readonly {
    readonly place: "waiting" | "outside";
    readonly amount: bigint;
    readonly text: string;
  }[];
  /** Number of payments whose claims are not sent yet. */
  readonly toClaim: number;
  /** Removed notes of a head that waits for the owner's consent; undefined if none does. */
  readonly removal: number | undefined;
  /** Why the wallet no longer believes the curator. */
  readonly stopped: Failure | undefined;
  /** What failed the last time that the set was read. */
  readonly problem: Failure | undefined;
}

/** The prepaid tokens at one merchant. */
export interface PrepaidView {
  readonly origin: string;
  /** Base units, without what is underway. */
  readonly unspent: bigint;
  /** The most that may still come back, base units: change of requests that run, or whose change has not arrived. */
  readonly underway: bigint;
  /** What the merchant charged for metered requests so far, base units, and for how many. */
  readonly charged: bigint;
  readonly requests: number;
  /** Number of tokens that can be shown. */
  readonly tokens: number;
  /** Why no token is shown until the user decides; undefined if tokens are accepted. */
  readonly stopped: string | undefined;
}

export interface WalletBalance {
  readonly spendable: bigint;
  /** Recorded on chain but not spendable yet: waiting for confirmations or for the append. */
  readonly arriving: bigint;
  /** Held by payments that may still settle. */
  readonly held: bigint;
  readonly total: bigint;
}

export type HistoryKind = "payment" | "received" | "deposit" | "withdrawal" | "merge" | "charge";

export interface HistoryEntry {
  readonly id: string;
  readonly kind: HistoryKind;
  readonly state: "open" | "settled" | "failed" | "expired" | "pending" | "prepaid";
  readonly amount: bigint;
  /** When it began; for incoming notes, the time of their block. */
  readonly at: number;
  /** The recipient's wallet or account; "" if the chain does not show it. */
  readonly counterparty: string;
  /** The resource that was paid for; "" if there is none. */
  readonly resource: string;
  /** The settling transaction; "" until it is settled. */
  readonly transaction: string;
  readonly block: number | undefined;
  /** Identifies the settled attempt in the pool's events; undefined until it is settled. */
  readonly digest: string | undefined;
  /** The month of the own address that was paid; "" for the lasting address, and for all that is no incoming payment. */
  readonly month: string;
  /** Whether it was paid before or after that month, so that only a search found it. */
  readonly isOutsideMonth: boolean;
}

/** Of an entry that was not paid to the address of a month. */
export const NO_MONTH = { month: "", isOutsideMonth: false } as const satisfies Partial<HistoryEntry>;

/** An incomplete purchase: it resumes by itself after a reload, or needs the user's decision. */
export interface UnfinishedPayment {
  readonly id: string;
  readonly created: number;
  readonly price: bigint;
  readonly recipient: string;
  readonly resource: string;
  readonly state: "paying" | "paid" | "stopped";
  readonly problem: Failure | undefined;
  /** Whether `resume` can continue it. */
  readonly resumable: boolean;
}

/** A price that a resource server asks, before anything is paid. */
export interface Quote {
  readonly url: string;
  readonly host: string;
  readonly price: bigint;
  /** The merchant's wallet, which must have signed the shielded address that is paid. */
  readonly merchant: string;
  readonly service: string;
  readonly phone: string;
  /** Whether the server sells prepaid tokens of this price. */
  readonly tokens: boolean;
  /** Whether the price is the most that the request can cost: a token gets the rest back, a single payment does not. */
  readonly metered: boolean;
  /** The highest amount that the limits still allow; a higher payment is refused. */
  readonly limits: Limits;
  readonly spentToday: bigint;
  readonly spendable: bigint;
}

/** The response of a resource server. */
export interface Delivery {
  readonly status: number;
  readonly type: string;
  /** At most 1 MiB. */
  readonly text: string;
  readonly truncated: boolean;
}

export type Answer = { readonly kind: "quote"; readonly quote: Quote } | ({ readonly kind: "free" } & Delivery);

export interface Paid extends Delivery {
  readonly transaction: string;
  readonly price: bigint;
}

/** A stage of a payment, a deposit or a withdrawal, in plain words for the user. */
export interface Progress {
  readonly stage: string;
  readonly transaction?: string | undefined;
}

export type OnProgress = (progress: Progress) => void;

export interface FoundNumber {
  /** Identifies one payment, random hex: another `payNumber` with the same value resumes that payment. */
  readonly key: string;
  readonly phone: string;
  readonly wallet: string;
  readonly standing: "new" | "known" | "changed";
}

/** An Ethereum account to which the page has access: a browser wallet. */
export interface PageSigner {
  address(): Promise<string>;
  /** @param typedData EIP-712, as eth_signTypedData_v4 expects it @returns the signature, hex */
  sign(typedData: string): Promise<string>;
}

/** A request that this browser sent to the service: what the service sees. */
export interface ServiceRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Body as sent, JSON; "" if none. Payment tokens are replaced. */
  readonly body: string;
}

/** Only the owner knows which note a nullifier belongs to. */
export interface SpentNote {
  readonly nullifier: bigint;
  readonly leafIndex: number;
}

export interface Engine {
  subscribe(listener: (state: EngineState) => void): Promise<void>;
  /** Takes the wallet's lock and looks for a wallet. Call it once. */
  start(config: HostConfig): Promise<void>;
  /** Moves the wallet from the other tab to this one. */
  takeOver(): Promise<void>;

  /** Returns 24 new words. Nothing is stored before `create`. */
  newWords(): Promise<string>;
  /** Stores a wallet encrypted, and opens it. @throws INVALID_WORDS, PASSPHRASE_TOO_SHORT */
  create(words: string, passphrase: string): Promise<void>;
  /** @throws PASSPHRASE_WRONG */
  unlock(passphrase: string): Promise<void>;
  lock(): Promise<void>;
  /** @throws PASSPHRASE_WRONG */
  words(passphrase: string): Promise<string>;
  /** Deletes the wallet of this browser, with its key. @throws PASSPHRASE_WRONG */
  remove(passphrase: string): Promise<void>;
  /** Deletes a wallet whose key can no longer be read, or whose passphrase is lost. */
  forget(): Promise<void>;
  /** After CHAIN_REPLACED: deletes all data of the old chain, and reads the new one. */
  startFresh(config: HostConfig): Promise<void>;

  /** Asks for a resource without paying. @throws PAGE_UNREACHABLE, PAGE_BLOCKED, NOT_PAYABLE, the client's FetchErrors */
  ask(url: string): Promise<Answer>;
  /**
   * Pays at most the price that `quote` returned, and requests the resource with the proof.
   * @param operation a name for `cancel`, random
   * @param accepted after RECIPIENT_CHANGED: the new wallet (details.offered) that the user accepted
   */
  pay(operation: string, quote: Quote, accepted: string | undefined, onProgress: OnProgress): Promise<Paid>;
  /** Resumes an unfinished payment. */
  resume(operation: string, id: string, onProgress: OnProgress): Promise<Paid>;
  /** Closes a payment that was paid but not delivered, or can never settle. */
  dismiss(id: string): Promise<void>;
  findNumber(phone: string): Promise<FoundNumber>;
  payNumber(operation: string, found: FoundNumber, amount: bigint, onProgress: OnProgress): Promise<Paid>;
  /** Stops waiting. A payment whose proof was already sent may still settle; it stays in `unfinished`. */
  cancel(operation: string): Promise<void>;
  /** Loads the prover and the circuits' files, so that the first payment does not wait for them. */
  warmUp(): Promise<void>;

  /** Mints test tokens to the test account; local chains only. @throws FAUCET_FAILED */
  drip(): Promise<void>;
  /** Deposits with a signature; the account pays no gas. @param signer default: the test account */
  deposit(operation: string, amount: bigint, signer: PageSigner | undefined, onProgress: OnProgress): Promise<void>;
  /** Withdraws, or resumes an unfinished withdrawal of the same amount to the same account. */
  withdraw(operation: string, recipient: string, amount: bigint, onProgress: OnProgress): Promise<CashedOut>;
  resumeWithdrawal(operation: string, id: string, onProgress: OnProgress): Promise<CashedOut>;
  /**
   * Binds an account to this wallet's shielded address, and has the registry send a code.
   * @param signer default: the test account
   */
  linkNumber(phone: string, signer: PageSigner | undefined): Promise<{ phone: string; wallet: string }>;
  proveNumber(link: { phone: string; wallet: string }, code: string): Promise<void>;

  /**
   * Buys a pack of prepaid tokens of the quoted price, or resumes its purchase. The pack's price is within the limit per
   * day.
   */
  buyTokens(operation: string, quote: Quote, onProgress: OnProgress): Promise<void>;
  /** Allows prepaid tokens at a merchant again, or gives up the ones that are left. */
  decideTokens(origin: string, decision: "resume" | "drop"): Promise<void>;
  /** Asks a merchant for the change that has not arrived, and swaps small tokens for larger ones. */
  claimChange(origin: string): Promise<void>;

  /**
   * Follows a curator's set, or changes how it is followed, and reads it.
   * @param settings JSON: curator, name and url; mirrors and minimumCrowd are optional
   * @throws CURATOR_SETTINGS_INVALID, INVALID_OPTION
   */
  followOrigin(settings: string): Promise<void>;
  unfollowOrigin(set: SetName): Promise<void>;
  /** Accepts that the curator removed many notes from the set. */
  acceptRemoval(set: SetName): Promise<void>;
  /** Reads all sets, and sends the claims that are due. */
  syncOrigins(): Promise<void>;

  setLimits(limits: Limits): Promise<void>;
  /** A receipt that proves that this wallet paid, as JSON. */
  receipt(id: string): Promise<string>;
  /** Payments and charges as CSV. */
  csv(): Promise<string>;
  /** An encrypted file with the key and all data that cannot be restored from the chain. */
  backup(passphrase: string): Promise<string>;
  /** Restores a backup into a browser without a wallet. @throws BACKUP_DAMAGED, PASSPHRASE_WRONG */
  restore(backup: string, passphrase: string): Promise<void>;

  /** The newest 100 requests to the service, oldest first. */
  requests(): Promise<readonly ServiceRequest[]>;
  /** The notes that this wallet spent, with their nullifiers on chain. */
  spentNotes(): Promise<readonly SpentNote[]>;
  /**
   * The viewing keys of all addresses that may have been paid: of the lasting address, and of every month from the pool's
   * deployment to the end of the longest schedule. As text for `parseViewingKeys` of @sotto/protocol.
   */
  viewingKeys(): Promise<string>;
}
