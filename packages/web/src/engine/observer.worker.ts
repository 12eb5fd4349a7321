// The observer's worker: reads calldata, and decrypts payments with a viewing key. It has no access to a wallet.
import { type Chain, decodeSettleCall, type SettledEvent } from "@sotto/chain";
import { describeKeys, type Note, scanNotes, type ViewingKeys } from "@sotto/protocol";
import { NoteScanner, viewingScanKeys } from "@sotto/wallet";
import { expose } from "comlink";
import type { HostConfig } from "../config.ts";
import { WebError } from "../errors.ts";
import { connect } from "./chain.ts";
import type { Observer, SettleTransaction } from "./observer-api.ts";
import { openViewingKeys } from "./viewing-key.ts";
import { withFailures } from "./with-failures.ts";

/** Maximum number of cached transactions. */
const MAX_TRANSACTIONS = 500;

class ChainObserver implements Observer {
  #config: HostConfig | undefined;
  #chain: Chain | undefined;
  #keys: { readonly opened: string; readonly scanner: NoteScanner } | undefined;
  readonly #transactions = new Map<string, Promise<SettleTransaction | undefined>>();

  async start(config: HostConfig): Promise<void> {
    this.#config = config;
    this.#chain = connect(config);
  }

  transactions(hashes: readonly string[]): Promise<(SettleTransaction | undefined)[]> {
    return Promise.all(hashes.map((hash) => this.#transaction(hash)));
  }

  #transaction(hash: string): Promise<SettleTransaction | undefined> {
    const known = this.#transactions.get(hash);
    if (known !== undefined) return known;
    const reading = this.#read(hash);
    this.#transactions.set(hash, reading);
    for (const oldest of this.#transactions.keys())
      if (this.#transactions.size > MAX_TRANSACTIONS) this.#transactions.delete(oldest);
    // Requested again next time: the node may not respond, or not have the transaction yet.
    const forget = () => void this.#transactions.delete(hash);
    reading.then((found) => found === undefined && forget(), forget);
    return reading;
  }

  async #read(hash: string): Promise<SettleTransaction | undefined> {
    const found = await this.#started().chain.transaction(hash);
    return found === undefined ? undefined : { ...found, payments: decodeSettleCall(found.data) };
  }

  #started(): { chain: Chain; config: HostConfig } {
    if (this.#chain === undefined || this.#config === undefined)
      throw new WebError("APP_FAILED", "the observer was not started");
    return { chain: this.#chain, config: this.#config };
  }

  async setKey(text: string): Promise<string> {
    const { chainId, pool } = this.#started().config.deployment;
    const keys: ViewingKeys = openViewingKeys(text, { chainId, pool });
    const scanner = new NoteScanner(viewingScanKeys(keys), { chainId: BigInt(chainId), pool });
    const opened = describeKeys(keys);
    this.#keys = { opened, scanner };
    return opened;
  }

  async forgetKey(): Promise<void> {
    this.#keys = undefined;
  }

  async keyMonths(): Promise<string | undefined> {
    return this.#keys?.opened;
  }

  async amounts(events: readonly SettledEvent[]): Promise<(bigint | undefined)[]> {
    const scanner = this.#keys?.scanner;
    if (scanner === undefined) return events.map(() => undefined);
    const notes: (Note | null)[] = scanner
      .groups(events)
      .flatMap(({ viewer, payments, own }) => own(scanNotes(viewer, payments)));
    return notes.map((note) => note?.amount);
  }
}

const observer: Observer = new ChainObserver();
expose(withFailures(observer));
