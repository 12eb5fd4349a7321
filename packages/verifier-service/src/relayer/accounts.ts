import type { Chain, Head } from "@sotto/chain";
import type { SignerErrorCode } from "../signer/index.ts";
import type { TransactionKind, TransactionSummary } from "../store/index.ts";
import type { Account } from "./account.ts";
import type { AccountState, RelayerConfig } from "./types.ts";

/** Why no account can send a transaction now. BUSY: those that can sign have as many transactions under way as they may. */
export type NoAccount = "BUSY" | "RELAYER_BALANCE_LOW" | SignerErrorCode;

/** The block as of which balances are read. */
interface AtHead {
  readonly head: Pick<Head, "number" | "hash">;
}

interface AccountsOptions {
  readonly accounts: readonly Account[];
  readonly chain: Pick<Chain, "balance">;
  readonly config: Pick<RelayerConfig, "maxInFlight" | "stuckAfter">;
  /** Now, ms. */
  readonly clock: () => number;
}

/** How many more transactions may be sent, appends not counted. */
export interface Room {
  readonly room: number;
  /** Half of all are reserved for payments. */
  readonly roomForOthers: number;
  /**
   * With payments that do not fill a transaction: all accounts together may have as many transactions of payments as one may.
   * Several accounts would otherwise send more of them with fewer payments in each, which costs gas. Transactions that have
   * waited for `stuckAfter` do not count, nor do deposits and withdrawals, which must not delay payments.
   */
  readonly roomForFew: number;
}

/** The relayer's accounts. Each has its own sequence of nonces; together they share the budget and the quotas. */
export class Accounts {
  /** In the order of the configuration. */
  readonly all: readonly Account[];
  readonly #options: AccountsOptions;
  /** Balances as of a block, wei. */
  #balances: { readonly block: string; readonly of: ReadonlyMap<string, bigint> } | undefined;
  /** The balances that were read last, wei. */
  #shown: ReadonlyMap<string, bigint> = new Map();

  constructor(options: AccountsOptions) {
    this.all = options.accounts;
    this.#options = options;
  }

  /** The account that calls are simulated from: the one with the most ETH, because some nodes refuse those of an account without. */
  get caller(): Account {
    const balanceOf = ({ address }: Account) => this.#shown.get(address) ?? 0n;
    return this.all.reduce((most, account) => (balanceOf(account) > balanceOf(most) ? account : most));
  }

  /** The configured account with this address; undefined if there is none (any more). */
  find(address: string): Account | undefined {
    return this.all.find((account) => account.address === address);
  }

  /** Accounts that may send something new. */
  get #active(): Account[] {
    return this.all.filter(({ isDraining }) => !isDraining);
  }

  /** Accounts that may send something new and whose signers were not found to fail just now. */
  get #usable(): Account[] {
    return this.#active.filter(({ isPaused }) => !isPaused);
  }

  /** Whether any other account, whose signer works, can take over what this one cannot send. */
  hasOther(address: string): boolean {
    return this.#usable.some((account) => account.address !== address && account.fault === undefined);
  }

  /** @param open the transactions that are not final */
  room(open: readonly TransactionSummary[]): Room {
    const { maxInFlight, stuckAfter } = this.#options.config;
    const now = this.#options.clock();
    const usable = this.#usable;
    const most = maxInFlight * usable.length;
    const counted = open.filter((transaction) => usable.some(({ address }) => isUnderWay(transaction, address)));
    const others = counted.filter(({ kind }) => kind === "deposit" || kind === "withdraw").length;
    const room = usable.reduce((sum, { address }) => sum + Math.max(0, maxInFlight - underWay(open, address)), 0);
    const moving = counted.filter(({ kind, createdAt }) => kind === "settle" && now - createdAt < stuckAfter).length;
    return {
      room,
      roomForOthers: Math.min(room, Math.ceil(most / 2) - others),
      roomForFew: Math.min(room, maxInFlight - moving),
    };
  }

  /**
   * The account that sends a transaction: of those that can sign and pay, the one with the fewest transactions under way. One with
   * a stuck transaction comes after those, and one whose signer failed is last. Appends stay on one account until none is under
   * way, because each must be mined after the one before it.
   * @param cost the transaction's maximum cost, wei
   * @param open the transactions that are not final
   * @param failed accounts whose signer just refused it
   */
  async choose(
    kind: TransactionKind,
    cost: bigint,
    open: readonly TransactionSummary[],
    round: AtHead,
    failed: ReadonlySet<Account>,
  ): Promise<Account | NoAccount> {
    const usable = this.#usable.filter((account) => !failed.has(account));
    const fitting = this.#fitting(kind, usable, open);
    // A single account is not checked: there is no choice.
    for (const account of fitting)
      if (this.all.length === 1 || (await this.#freeBalance(account, open, round)) >= cost) {
        retryOthers(account, usable);
        return account;
      }
    if (fitting.length > 0) return "RELAYER_BALANCE_LOW";
    return usable.length > 0 ? "BUSY" : (this.#active.find(({ fault }) => fault !== undefined)?.fault ?? "BUSY");
  }

  /** The most that one of the accounts that could send a transaction of this kind can pay, wei. */
  async payable(kind: TransactionKind, open: readonly TransactionSummary[], round: AtHead): Promise<bigint> {
    let most = 0n;
    for (const account of this.#fitting(kind, this.#usable, open)) {
      const balance = await this.#freeBalance(account, open, round);
      if (balance > most) most = balance;
    }
    return most;
  }

  /** Reads the balances for `states`. */
  async readBalances(): Promise<void> {
    this.#shown = await this.#read();
  }

  /** The state of each account, and of former ones whose transactions are not final. */
  states(open: readonly TransactionSummary[]): AccountState[] {
    const count = (address: string) => open.filter(({ sender }) => sender === address).length;
    const states = this.all.map(({ address, fault, isDraining }) => ({
      address,
      role: isDraining ? ("draining" as const) : ("active" as const),
      fault,
      open: count(address),
      balance: this.#shown.get(address),
    }));
    const former = [...new Set(open.map(({ sender }) => sender))].filter((sender) => this.find(sender) === undefined);
    const unknown = { role: "former" as const, fault: undefined, balance: undefined };
    return [...states, ...former.map((address) => ({ address, ...unknown, open: count(address) }))];
  }

  #fitting(kind: TransactionKind, usable: readonly Account[], open: readonly TransactionSummary[]): Account[] {
    return kind === "append" ? this.#forAppend(usable, open) : this.#forOthers(usable, open);
  }

  #forAppend(usable: readonly Account[], open: readonly TransactionSummary[]): Account[] {
    const previous = open.find(({ kind, state }) => kind === "append" && state === "sent");
    if (previous !== undefined) return usable.filter(({ address }) => address === previous.sender);
    // On an account with a stuck transaction, all appends would wait behind it.
    return usable.toSorted((a, b) => this.#hindrance(a, open) - this.#hindrance(b, open));
  }

  #forOthers(usable: readonly Account[], open: readonly TransactionSummary[]): Account[] {
    const { maxInFlight } = this.#options.config;
    return usable
      .map((account) => ({
        account,
        hindrance: this.#hindrance(account, open),
        count: underWay(open, account.address),
      }))
      .filter(({ count }) => count < maxInFlight)
      .sort((a, b) => a.hindrance - b.hindrance || a.count - b.count)
      .map(({ account }) => account);
  }

  /** 2 if the signer failed last, 1 if a transaction is stuck, otherwise 0. */
  #hindrance({ address, fault }: Account, open: readonly TransactionSummary[]): number {
    if (fault !== undefined) return 2;
    const since = this.#options.clock() - this.#options.config.stuckAfter;
    return Number(
      open.some(({ sender, state, createdAt }) => sender === address && state === "sent" && createdAt <= since),
    );
  }

  /** The balance without what the transactions under way may cost, wei. */
  async #freeBalance({ address }: Account, open: readonly TransactionSummary[], round: AtHead): Promise<bigint> {
    const balance = (await this.#balancesAt(round)).get(address) ?? 0n;
    return open
      .filter(({ sender, state }) => sender === address && state === "sent")
      .reduce((rest, { cost }) => rest - cost, balance);
  }

  async #balancesAt({ head }: AtHead): Promise<ReadonlyMap<string, bigint>> {
    if (this.#balances?.block !== head.hash) this.#balances = { block: head.hash, of: await this.#read(head.number) };
    return this.#balances.of;
  }

  async #read(block?: number): Promise<Map<string, bigint>> {
    const { chain } = this.#options;
    const read = async ({ address }: Account) => [address, await chain.balance(address, block)] as const;
    return new Map(await Promise.all(this.all.map(read)));
  }
}

/** Lets the signers of other accounts that failed try again in the background, so that no round waits for one that hangs. */
function retryOthers(chosen: Account, usable: readonly Account[]): void {
  for (const account of usable)
    if (account !== chosen && account.fault !== undefined) account.check().catch(() => undefined);
}

/** Whether it is of this account, sent and not mined. Appends do not count. */
const isUnderWay = ({ sender, kind, state }: TransactionSummary, address: string): boolean =>
  sender === address && kind !== "append" && state === "sent";

const underWay = (open: readonly TransactionSummary[], address: string): number =>
  open.filter((transaction) => isUnderWay(transaction, address)).length;
