// The merchant's worker. It has viewing keys while the page is open, and keeps everything in memory.

import { defaultFinality, describeKeys, trimPasted, type ViewingKeys } from "@sotto/protocol";
import { type Chain, MemoryStore, ViewingWallet } from "@sotto/wallet";
import { assertReceipt } from "@sotto/wallet/receipts";
import { expose } from "comlink";
import type { HostConfig } from "../config.ts";
import { failureOf, WebError } from "../errors.ts";
import { connect, pauseMs, readGenesis } from "./chain.ts";
import { instructionsOf, request, urlOf } from "./instructions.ts";
import { CLOSED, type MerchantDesk, type MerchantState } from "./merchant-api.ts";
import { receivedCsv } from "./merchant-csv.ts";
import { isSameReceived } from "./received.ts";
import { openViewingKeys } from "./viewing-key.ts";
import { withFailures } from "./with-failures.ts";

const MAX_RECEIPT_CHARACTERS = 64 * 1024;

class Desk implements MerchantDesk {
  readonly #listeners: ((state: MerchantState) => void)[] = [];
  #state = CLOSED;
  #open: AbortController | undefined;

  async subscribe(listener: (state: MerchantState) => void): Promise<void> {
    this.#listeners.push(listener);
    listener(this.#state);
  }

  #set(state: MerchantState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  async open(config: HostConfig, text: string): Promise<void> {
    const keys = openViewingKeys(text, config.deployment);
    await this.close();
    const open = new AbortController();
    this.#open = open;
    this.#set({ ...CLOSED, phase: "reading", opened: describeKeys(keys) });
    void this.#look(config, keys, open.signal);
  }

  /** Reads the chain repeatedly until the signal is aborted. Never rejects. */
  async #look(config: HostConfig, keys: ViewingKeys, signal: AbortSignal): Promise<void> {
    const chain = connect(config);
    let wallet: ViewingWallet | undefined;
    let genesis: string | undefined;
    let failures = 0;
    /** Whether the chain has the same genesis block but none of the blocks that were read. */
    let replaced = false;
    while (!signal.aborted) {
      try {
        const found = await readGenesis(chain);
        if (genesis !== undefined && genesis !== found) {
          wallet = undefined;
          replaced = false;
          this.#restart(signal);
        }
        genesis = found;
        wallet ??= await openWallet(config, chain, keys);
        const { rolledBack } = await wallet.scan({
          signal,
          onProgress: (progress) => this.#progress(signal, progress),
        });
        failures = 0;
        if (rolledBack > 0 || replaced) this.#reorganize(signal, replaced ? undefined : rolledBack);
        replaced = false;
        this.#show(signal, wallet);
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        const problem = failureOf(error);
        this.#set({ ...this.#state, problem });
        if (problem.code === "NODE_INCONSISTENT") {
          // A new wallet reads everything again.
          replaced ||= wallet !== undefined;
          wallet = undefined;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs(config.deployment.chainId, failures)));
    }
  }

  #restart(signal: AbortSignal): void {
    const { opened } = this.#state;
    if (!signal.aborted) this.#set({ ...CLOSED, phase: "reading", opened, restarted: Date.now() });
  }

  #reorganize(signal: AbortSignal, blocks: number | undefined): void {
    if (!signal.aborted) this.#set({ ...this.#state, reorganized: { at: Date.now(), blocks } });
  }

  #progress(signal: AbortSignal, progress: { block: number; height: number }): void {
    if (!signal.aborted && this.#state.phase === "reading") this.#set({ ...this.#state, progress });
  }

  #show(signal: AbortSignal, wallet: ViewingWallet): void {
    if (signal.aborted) return;
    const received = wallet.received();
    const { phase, problem, received: known } = this.#state;
    if (phase === "open" && problem === undefined && isSameReceived(known, received)) return;
    const total = wallet.total();
    this.#set({ ...this.#state, phase: "open", progress: undefined, received, total, problem: undefined });
  }

  async close(): Promise<void> {
    this.#open?.abort();
    this.#open = undefined;
    this.#set(CLOSED);
  }

  async csv(): Promise<string> {
    return receivedCsv(this.#state.received);
  }

  async assertReceipt(config: HostConfig, text: string, challenge: string) {
    if (text.length > MAX_RECEIPT_CHARACTERS) throw new WebError("NOT_A_RECEIPT", "the text is too long for a receipt");
    let receipt: unknown;
    try {
      receipt = JSON.parse(trimPasted(text));
    } catch (cause) {
      throw new WebError("NOT_A_RECEIPT", "the text is not JSON", {}, { cause });
    }
    const { chainId, pool, finality } = config.deployment;
    return assertReceipt(receipt, {
      chain: connect(config),
      chainId: BigInt(chainId),
      pool,
      confirmations: (finality ?? defaultFinality(BigInt(chainId))) + 1,
      challenge: challenge === "" ? undefined : challenge,
    });
  }

  async readInstructions(typed: string) {
    const response = await request(urlOf(typed));
    if (response.status !== 402)
      throw new WebError("NOT_PAYABLE", `the server answers ${response.status}, not 402: it asks for no payment`);
    return instructionsOf(response);
  }
}

function openWallet(config: HostConfig, chain: Chain, keys: ViewingKeys): Promise<ViewingWallet> {
  const { chainId, pool, token, deploymentBlock, set, finality } = config.deployment;
  return ViewingWallet.open({
    keys,
    chain,
    chainId,
    pool,
    token,
    deploymentBlock,
    set,
    finality,
    store: new MemoryStore(),
  });
}

const desk: MerchantDesk = new Desk();
expose(withFailures(desk));
