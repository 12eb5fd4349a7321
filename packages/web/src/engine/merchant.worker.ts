// The merchant's worker. It has viewing keys while the page is open, and keeps everything in memory.

import { parseSet } from "@sotto/origins";
import { defaultFinality, trimPasted, type ViewingKeys } from "@sotto/protocol";
import { type Chain, IdleSearch, isOutsideMonth, MemoryStore, ViewingWallet } from "@sotto/wallet";
import { assertReceipt, keyOfReceipt } from "@sotto/wallet/receipts";
import { expose } from "comlink";
import type { HostConfig } from "../config.ts";
import { failureOf, WebError } from "../errors.ts";
import { connect, pauseMs, readGenesis } from "./chain.ts";
import { instructionsOf, request, urlOf } from "./instructions.ts";
import {
  type AskedSet,
  CLOSED,
  filtered,
  type MerchantDesk,
  type MerchantState,
  type MonthFilter,
} from "./merchant-api.ts";
import { receivedCsv } from "./merchant-csv.ts";
import { isSameReceived } from "./received.ts";
import { openViewingKeys } from "./viewing-key.ts";
import { withFailures } from "./with-failures.ts";

const MAX_RECEIPT_CHARACTERS = 64 * 1024;

class Desk implements MerchantDesk {
  readonly #listeners: ((state: MerchantState) => void)[] = [];
  #state = CLOSED;
  #open: AbortController | undefined;
  #keys: ViewingKeys | undefined;

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
    this.#keys = keys;
    const months = keys.keys.map(({ month }) => month);
    this.#set({ ...CLOSED, phase: "reading", months });
    void this.#look(config, keys, open.signal);
  }

  /** Reads the chain repeatedly until the signal is aborted. Never rejects. */
  async #look(config: HostConfig, keys: ViewingKeys, signal: AbortSignal): Promise<void> {
    const chain = connect(config);
    let wallet: ViewingWallet | undefined;
    let search: IdleSearch | undefined;
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
        if (wallet === undefined) {
          // Its result would otherwise count for the new wallet.
          await search?.stop();
          if (signal.aborted) return;
          this.#set({ ...this.#state, isSearched: false });
          const opened = await openWallet(config, chain, keys);
          wallet = opened;
          search = new IdleSearch({ wallet, onSearched: () => this.#show(signal, opened, true) });
          const opening = search;
          signal.addEventListener("abort", () => void opening.stop(), { once: true });
        }
        const { rolledBack } = await wallet.scan({
          signal,
          onProgress: (progress) => this.#progress(signal, progress),
        });
        failures = 0;
        if (rolledBack > 0 || replaced) this.#reorganize(signal, replaced ? undefined : rolledBack);
        replaced = false;
        this.#show(signal, wallet, this.#state.isSearched);
        search?.start();
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
    const { months } = this.#state;
    if (!signal.aborted) this.#set({ ...CLOSED, phase: "reading", months, restarted: Date.now() });
  }

  #reorganize(signal: AbortSignal, blocks: number | undefined): void {
    if (!signal.aborted) this.#set({ ...this.#state, reorganized: { at: Date.now(), blocks } });
  }

  #progress(signal: AbortSignal, progress: { block: number; height: number }): void {
    if (!signal.aborted && this.#state.phase === "reading") this.#set({ ...this.#state, progress });
  }

  /** @param isSearched whether all blocks were searched for payments outside the month of their address */
  #show(signal: AbortSignal, wallet: ViewingWallet, isSearched: boolean): void {
    if (signal.aborted) return;
    const received = wallet.received().map((one) => ({ ...one, isOutsideMonth: isOutsideMonth(one) }));
    const { phase, problem, received: known } = this.#state;
    const isSame = isSearched === this.#state.isSearched && isSameReceived(known, received);
    if (phase === "open" && problem === undefined && isSame) return;
    const income = received.filter(({ origin, confirmed }) => origin === "payment" && confirmed);
    const total = income.reduce((sum, { amount }) => sum + amount, 0n);
    const open = { phase: "open", progress: undefined, problem: undefined } as const;
    this.#set({ ...this.#state, ...open, received, total, isSearched });
  }

  async close(): Promise<void> {
    this.#open?.abort();
    this.#open = undefined;
    this.#keys = undefined;
    this.#set(CLOSED);
  }

  async csv(filter: MonthFilter): Promise<string> {
    return receivedCsv(filtered(this.#state.received, filter));
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
    const checked = await assertReceipt(receipt, {
      chain: connect(config),
      chainId: BigInt(chainId),
      pool,
      confirmations: (finality ?? defaultFinality(BigInt(chainId))) + 1,
      challenge: challenge === "" ? undefined : challenge,
    });
    if (this.#keys === undefined) return { ...checked, paidTo: undefined };
    const key = keyOfReceipt(checked, this.#keys);
    return { ...checked, paidTo: key === undefined ? ("other" as const) : (key.month ?? ("lasting" as const)) };
  }

  async assertEvidence(config: HostConfig, text: string, asked: AskedSet) {
    // Few visitors check evidence: the others do not download the verifier.
    const [{ assertEvidence }, { createVerifier, loadArtifacts }] = await Promise.all([
      import("@sotto/origins/evidence"),
      import("@sotto/prover"),
    ]);
    const { service, deployment } = config;
    const { chainId, pool, set, finality } = deployment;
    const checked = await assertEvidence(trimPasted(text), {
      set: parseSet({ ...asked, chainId, pool }),
      verifier: createVerifier({ artifacts: await loadArtifacts({ service, set }) }),
      chain: connect(config),
      confirmations: (finality ?? defaultFinality(BigInt(chainId))) + 1,
    });
    const { event, time, transaction, notes } = checked;
    const withdrawal = event?.type === "withdrawn" ? { recipient: event.recipient, amount: event.amount } : undefined;
    return { time: 1_000 * time, transaction, notes, withdrawal };
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
