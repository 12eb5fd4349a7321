// The engine's worker. It starts quickly: the wallet's code is loaded when a wallet is opened.

import { bytesToHex } from "@sotto/protocol";
import { expose } from "comlink";
import type { HostConfig, Limits } from "../config.ts";
import { failureOf, WebError } from "../errors.ts";
import type { Engine, EngineState, FoundNumber, OnProgress, PageSigner, Quote, SetName } from "./api.ts";
import type { Session } from "./session.ts";
import { Tabs } from "./tabs.ts";
import { open, parseSecrets, type Secrets, seal } from "./vault.ts";
import { deleteVault, readVault, type Vault, writeVault } from "./vault-store.ts";
import { withFailures } from "./with-failures.ts";

const loadSession = () => import("./session.ts");
const loadRequests = () => import("./requests.ts");
const loadTransfers = () => import("./transfers.ts");
const loadOrigins = () => import("./origins.ts");
const loadPhone = () => import("./phone.ts");

const RETRY_MS = 3_000;

class WalletEngine implements Engine {
  #state: EngineState = { phase: "starting" };
  readonly #listeners: ((state: EngineState) => void)[] = [];
  #config: HostConfig | undefined;
  #tabs: Tabs | undefined;
  #vault: Vault | undefined;
  /** Set while a wallet is unlocked. */
  #secrets: Secrets | undefined;
  #session: Session | undefined;
  /** Counts openings, so that an opening that was superseded changes nothing. */
  #opening = 0;
  readonly #operations = new Map<string, AbortController>();

  async subscribe(listener: (state: EngineState) => void): Promise<void> {
    this.#listeners.push(listener);
    listener(this.#state);
  }

  #set(state: EngineState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  async start(config: HostConfig): Promise<void> {
    this.#config = config;
    if (this.#tabs !== undefined) return;
    this.#tabs = new Tabs({
      acquired: () => void this.#findVault(),
      elsewhere: (since) => this.#set({ phase: "elsewhere", since }),
      release: () => this.#close(),
    });
    await this.#tabs.start();
  }

  async takeOver(): Promise<void> {
    await this.#tabs?.takeOver();
  }

  async #findVault(): Promise<void> {
    try {
      this.#vault = await readVault();
      this.#set({ phase: this.#vault === undefined ? "empty" : "locked" });
    } catch (error) {
      this.#set({ phase: "failed", failure: failureOf(error) });
    }
  }

  async newWords(): Promise<string> {
    return (await loadSession()).createSeedWords();
  }

  async create(words: string, passphrase: string): Promise<void> {
    await this.#store((await loadSession()).secretsOf(words), passphrase, undefined);
  }

  /** @param fill fills the new wallet's store before the wallet is opened */
  async #store(
    secrets: Secrets,
    passphrase: string,
    chain: Vault["chain"],
    fill?: (vault: Vault) => Promise<void>,
  ): Promise<void> {
    if (this.#vault !== undefined) throw new WebError("WALLET_LOCKED", "this browser has a wallet already");
    const id = bytesToHex(crypto.getRandomValues(new Uint8Array(8))).slice(2);
    const vault: Vault = { id, sealed: await seal(JSON.stringify(secrets), passphrase), chain };
    await fill?.(vault);
    await writeVault(vault);
    // A browser that runs out of space asks before it deletes this origin's data.
    await navigator.storage.persist?.().catch(() => false);
    this.#vault = vault;
    this.#secrets = secrets;
    void this.#open();
  }

  async unlock(passphrase: string): Promise<void> {
    this.#secrets = await this.#unseal(passphrase);
    void this.#open();
  }

  async #unseal(passphrase: string): Promise<Secrets> {
    if (this.#vault === undefined) throw new WebError("WALLET_LOCKED", "this browser has no wallet");
    return parseSecrets(await open(this.#vault.sealed, passphrase));
  }

  /** Opens the wallet, and retries until it succeeds or is closed. */
  async #open(): Promise<void> {
    this.#opening += 1;
    const opening = this.#opening;
    const current = () => opening === this.#opening;
    this.#set({ phase: "opening", progress: undefined });
    while (current()) {
      const [config, secrets, vault] = [this.#config, this.#secrets, this.#vault];
      if (config === undefined || secrets === undefined || vault === undefined) return;
      try {
        const session = await (await loadSession()).Session.open({
          ...{ config, secrets, vault },
          onProgress: (progress) => current() && this.#set({ phase: "opening", progress }),
          onChange: (wallet) => current() && this.#set({ phase: "open", wallet }),
          onReplaced: (failure) => {
            if (!current()) return;
            void this.#closeSession();
            this.#set({ phase: "replaced", failure });
          },
        });
        if (!current()) return await session.close();
        this.#session = session;
        if (vault.chain === undefined) {
          this.#vault = { ...vault, chain: session.known };
          await writeVault(this.#vault);
        }
        return;
      } catch (error) {
        if (!current()) return;
        const failure = failureOf(error);
        if (failure.code === "CHAIN_REPLACED") return this.#set({ phase: "replaced", failure });
        this.#set({ phase: "failed", failure });
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async startFresh(config: HostConfig): Promise<void> {
    await this.#closeSession();
    const vault = this.#vault;
    if (vault === undefined || this.#secrets === undefined) throw new WebError("WALLET_LOCKED", "the wallet is locked");
    this.#config = config;
    // Written first: afterwards nothing opens the remains of the old store.
    this.#vault = { ...vault, chain: undefined };
    await writeVault(this.#vault);
    if (vault.chain !== undefined) await (await loadSession()).deleteStore(vault, vault.chain);
    void this.#open();
  }

  async lock(): Promise<void> {
    await this.#close();
    await this.#findVault();
  }

  async #closeSession(): Promise<void> {
    this.#opening += 1;
    for (const operation of this.#operations.values()) operation.abort();
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
  }

  async #close(): Promise<void> {
    await this.#closeSession();
    this.#secrets = undefined;
  }

  async words(passphrase: string): Promise<string> {
    return (await loadSession()).wordsOf(await this.#unseal(passphrase));
  }

  async remove(passphrase: string): Promise<void> {
    await this.#unseal(passphrase);
    await this.forget();
  }

  async forget(): Promise<void> {
    const vault = this.#vault;
    await this.#close();
    await deleteVault();
    if (vault?.chain !== undefined) await (await loadSession()).deleteStore(vault, vault.chain);
    await this.#findVault();
  }

  /** @throws WebError WALLET_LOCKED */
  #opened(): Session {
    if (this.#session === undefined) throw new WebError("WALLET_LOCKED", "the wallet is not open");
    return this.#session;
  }

  async #operate<T>(operation: string, action: (session: Session, signal: AbortSignal) => Promise<T>): Promise<T> {
    const session = this.#opened();
    const abort = new AbortController();
    this.#operations.set(operation, abort);
    try {
      return await session.operate(() => action(session, abort.signal));
    } finally {
      this.#operations.delete(operation);
    }
  }

  async ask(url: string) {
    const session = this.#opened();
    const { spentToday } = this.#state.phase === "open" ? this.#state.wallet : { spentToday: 0n };
    return (await loadRequests()).ask(session.context, spentToday, url);
  }

  pay(operation: string, quote: Quote, accepted: string | undefined, onProgress: OnProgress) {
    return this.#operate(operation, async ({ context }, signal) =>
      (await loadRequests()).pay(context, quote, accepted, onProgress, signal),
    );
  }

  buyTokens(operation: string, quote: Quote, onProgress: OnProgress) {
    return this.#operate(operation, async ({ context }, signal) =>
      (await loadRequests()).buyTokens(context, quote, onProgress, signal),
    );
  }

  decideTokens(origin: string, decision: "resume" | "drop") {
    return this.#opened().decideTokens(origin, decision);
  }

  async claimChange(origin: string): Promise<void> {
    await (await loadRequests()).claimChange(this.#opened().context, origin);
  }

  resume(operation: string, id: string, onProgress: OnProgress) {
    return this.#operate(operation, (session, signal) => session.resume(id, onProgress, signal));
  }

  dismiss(id: string) {
    return this.#opened().dismiss(id);
  }

  async findNumber(phone: string) {
    const { context } = this.#opened();
    return (await loadPhone()).findNumber(context, phone);
  }

  payNumber(operation: string, found: FoundNumber, amount: bigint, onProgress: OnProgress) {
    return this.#operate(operation, async ({ context }, signal) =>
      (await loadPhone()).payNumber(context, found, amount, onProgress, signal),
    );
  }

  async cancel(operation: string): Promise<void> {
    this.#operations.get(operation)?.abort();
  }

  async warmUp(): Promise<void> {
    await this.#opened().context.wallet.warm();
  }

  async drip(): Promise<void> {
    await (await loadTransfers()).drip(this.#opened().context);
  }

  deposit(operation: string, amount: bigint, signer: PageSigner | undefined, onProgress: OnProgress) {
    return this.#operate(operation, async ({ context }, signal) =>
      (await loadTransfers()).deposit(context, amount, signer, onProgress, signal),
    );
  }

  withdraw(operation: string, recipient: string, amount: bigint, onProgress: OnProgress) {
    return this.#operate(operation, async ({ context }, signal) =>
      (await loadTransfers()).withdraw(context, recipient, amount, onProgress, signal),
    );
  }

  resumeWithdrawal(operation: string, id: string, onProgress: OnProgress) {
    return this.#operate(operation, async ({ context }, signal) =>
      (await loadTransfers()).resumeWithdrawal(context, id, onProgress, signal),
    );
  }

  async linkNumber(phone: string, signer: PageSigner | undefined) {
    return (await loadTransfers()).linkNumber(this.#opened().context, phone, signer);
  }

  async proveNumber(link: { phone: string; wallet: string }, code: string): Promise<void> {
    await (await loadTransfers()).proveNumber(this.#opened().context, link, code);
  }

  async followOrigin(settings: string): Promise<void> {
    const { followOrigin, syncOrigins } = await loadOrigins();
    await this.#opened().changeOrigins(async (context) => {
      await followOrigin(context, settings);
      await syncOrigins(context);
    });
  }

  unfollowOrigin({ curator, name }: SetName) {
    return this.#opened().changeOrigins(({ origins }) => origins.unfollow({ curator: curator as `0x${string}`, name }));
  }

  async acceptRemoval(set: SetName): Promise<void> {
    const { acceptRemoval, syncOrigins } = await loadOrigins();
    await this.#opened().changeOrigins(async (context) => {
      await acceptRemoval(context, set);
      await syncOrigins(context);
    });
  }

  async syncOrigins(): Promise<void> {
    await this.#opened().changeOrigins((await loadOrigins()).syncOrigins);
  }

  setLimits(limits: Limits) {
    return this.#opened().setLimits(limits);
  }

  receipt(id: string) {
    return this.#opened().receipt(id);
  }

  csv() {
    return this.#opened().csv();
  }

  async backup(passphrase: string): Promise<string> {
    const { context, known } = this.#opened();
    const { writeBackup } = await import("./backup.ts");
    // Checked, so that a mistyped passphrase does not make a backup that nobody can open.
    await this.#unseal(passphrase);
    return writeBackup(context.secrets, known, context.wallet.store, passphrase);
  }

  async restore(text: string, passphrase: string): Promise<void> {
    const { readBackup } = await import("./backup.ts");
    const { secrets, chain, records } = await readBackup(text, passphrase);
    const { fillStore } = await loadSession();
    await this.#store(secrets, passphrase, chain, (vault) => fillStore(vault, chain, records));
  }

  async requests() {
    return this.#opened().context.requests;
  }

  async spentNotes() {
    const spent = this.#opened()
      .context.wallet.notes()
      .filter(({ state }) => state === "spent" || state === "spending");
    return spent.flatMap(({ nullifier, leafIndex }) => (nullifier === undefined ? [] : [{ nullifier, leafIndex }]));
  }

  viewingKeys() {
    return this.#opened().viewingKeys();
  }
}

const engine: Engine = new WalletEngine();
expose(withFailures(engine));
