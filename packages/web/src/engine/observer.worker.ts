// The observer's worker: reads calldata, and decrypts payments with a viewing key. It has no access to a wallet.
import { type Chain, decodeSettleCall, type SettledEvent } from "@sotto/chain";
import { describeKeys, scanNotes, type ViewingKeys } from "@sotto/protocol";
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
  #keys: ViewingKeys | undefined;
  /** Amounts that the keys read, by digest; undefined for payments of others. */
  readonly #amounts = new Map<string, bigint | undefined>();
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
    this.#keys = openViewingKeys(text, { chainId, pool });
    this.#amounts.clear();
    return describeKeys(this.#keys);
  }

  async forgetKey(): Promise<void> {
    this.#keys = undefined;
    this.#amounts.clear();
  }

  async keyMonths(): Promise<string | undefined> {
    return this.#keys && describeKeys(this.#keys);
  }

  async amounts(events: readonly SettledEvent[]): Promise<(bigint | undefined)[]> {
    if (this.#keys === undefined) return events.map(() => undefined);
    const { ownerTag, keys } = this.#keys;
    // The page lists few payments, so all keys are tried on each, whenever it settled.
    const viewer = { ownerTag, viewingKeys: keys.map(({ viewingKey }) => viewingKey) };
    const unknown = events.filter(({ digest }) => !this.#amounts.has(digest));
    for (const [index, note] of scanNotes(viewer, unknown).entries())
      this.#amounts.set(unknown[index]!.digest, note?.amount);
    return events.map(({ digest }) => this.#amounts.get(digest));
  }
}

const observer: Observer = new ChainObserver();
expose(withFailures(observer));
