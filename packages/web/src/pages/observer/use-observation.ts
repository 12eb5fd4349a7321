// All data that the page shows, from four sources: the wallet, a viewing key, the recorded requests and the chain.
import { useCallback, useEffect, useMemo, useState } from "react";
import type { EngineState, HistoryEntry, ServiceRequest, WalletView } from "../../engine/api.ts";
import { observer } from "../../engine/observer.ts";
import type { SettleTransaction } from "../../engine/observer-api.ts";
import { engine, useEngine } from "../../engine/page.ts";
import { poolFeed, usePoolFeed } from "../../engine/pool-feed.ts";
import type { FeedState, FeedTransaction } from "../../engine/pool-feed-api.ts";
import { type Failure, failureOf } from "../../errors.ts";
import { useConfig } from "../../hooks/use-config.ts";
import { chainPayments, type Draft, type SeenPayment, seenPayments, withDraft } from "./payments.ts";

/** How many of the pool's newest transactions are searched, and how many of those that settle payments are listed. */
const LOOKED_THROUGH = 200;
const LISTED = 24;
/** How many older payments of this wallet are listed as well. */
const OWN_OLDER = 24;
const REQUESTS_MS = 500;
/** Delay before calldata that the node did not return is requested again, ms. */
const RETRY_MS = 3_000;

export interface Observation {
  readonly feed: FeedState;
  readonly engine: EngineState;
  readonly wallet: WalletView | undefined;
  readonly payments: readonly SeenPayment[];
  readonly requests: readonly ServiceRequest[];
  /** Transactions with their calldata, by hash. */
  readonly calls: ReadonlyMap<string, SettleTransaction>;
  /** Why the node did not return calldata. */
  readonly callFailure: Failure | undefined;
  /** Requests one older transaction from the node. */
  loadCall(hash: string): Promise<void>;
  /** Leaf indices of the notes that this wallet spent, by nullifier. */
  readonly spent: ReadonlyMap<bigint, number>;
  /** The months of the keys that were entered, such as "2026-11 to 2026-12 and the lasting address"; undefined without keys. */
  readonly keyMonths: string | undefined;
  /** @throws VIEWING_KEY_INVALID */
  setKey(text: string): Promise<void>;
  setWalletKey(): Promise<void>;
  forgetKey(): void;
  /** Amounts that the viewing key can read, by digest. */
  readonly amounts: ReadonlyMap<string, bigint>;
}

const NO_HISTORY: readonly HistoryEntry[] = [];

/** @param draft a payment that this page is making */
export function useObservation(draft: Draft | undefined): Observation {
  const config = useConfig();
  const feed = usePoolFeed(config);
  const state = useEngine();
  const wallet = state.phase === "open" ? state.wallet : undefined;
  const requests = useRequests(wallet !== undefined);
  const known = wallet?.history ?? NO_HISTORY;
  // If the wallet is not open, its history cannot show that a payment is complete.
  const making = wallet === undefined ? undefined : draft;
  const history = useMemo(() => withDraft(known, making, requests), [known, making, requests]);
  const transactions = useTransactions(feed, known);
  const payments = useMemo(() => seenPayments(transactions, history), [transactions, history]);
  const key = useKey(payments);
  return {
    feed,
    engine: state,
    wallet,
    payments,
    requests,
    spent: useSpent(wallet !== undefined, known),
    ...useCalls(transactions),
    ...key,
  };
}

/** The newest transactions that settle payments, and those of this wallet's older payments; newest first. */
function useTransactions(feed: FeedState, history: readonly HistoryEntry[]): readonly FeedTransaction[] {
  const [found, setFound] = useState<readonly FeedTransaction[]>([]);
  const own = history
    .filter(({ kind, transaction }) => kind === "payment" && transaction !== "")
    .slice(0, OWN_OLDER)
    .map(({ transaction }) => transaction)
    .join();
  const { transactions = 0, history: version = 0 } = feed.summary ?? {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: the feed's results change with these two numbers.
  useEffect(() => {
    let current = true;
    const read = async () => {
      const newest = (await poolFeed().transactions(0, LOOKED_THROUGH))
        .filter((transaction) => chainPayments(transaction).length > 0)
        .slice(0, LISTED);
      const known = new Set(newest.map(({ hash }) => hash));
      const missing = own.split(",").filter((hash) => hash !== "" && !known.has(hash));
      const older = await Promise.all(missing.map((hash) => poolFeed().transaction(hash)));
      const all = [...newest, ...older.filter((transaction) => transaction !== undefined)];
      if (current) setFound(all.sort((a, b) => b.blockNumber - a.blockNumber));
    };
    // The feed's state reports the failure.
    read().catch(() => undefined);
    return () => {
      current = false;
    };
  }, [transactions, version, own]);
  return found;
}

/** Calldata of the newest listed transactions: all of them, so that the node does not learn which one matters. */
function useCalls(transactions: readonly FeedTransaction[]): Pick<Observation, "calls" | "callFailure" | "loadCall"> {
  const config = useConfig();
  const [calls, setCalls] = useState<ReadonlyMap<string, SettleTransaction>>(new Map());
  const [callFailure, setFailure] = useState<Failure>();
  const load = useCallback(
    async (hashes: readonly string[]) => {
      const found = (await observer(config).transactions(hashes)).filter((call) => call !== undefined);
      setCalls((known) => new Map([...known, ...found.map((call) => [call.hash, call] as const)]));
      setFailure(undefined);
    },
    [config],
  );
  const newest = transactions
    .slice(0, LISTED)
    .map(({ hash }) => hash)
    .join();
  useEffect(() => {
    if (newest === "") return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current = true;
    const read = () =>
      load(newest.split(",")).catch((error: unknown) => {
        if (!current) return;
        setFailure(failureOf(error));
        timer = setTimeout(read, RETRY_MS);
      });
    void read();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [load, newest]);
  const loadCall = useCallback((hash: string) => load([hash]), [load]);
  return { calls, callFailure, loadCall };
}

/** The requests to the service, updated as this browser sends them. */
function useRequests(open: boolean): readonly ServiceRequest[] {
  const [requests, setRequests] = useState<readonly ServiceRequest[]>([]);
  useEffect(() => {
    if (!open) return setRequests([]);
    let current = true;
    const read = () =>
      engine()
        .requests()
        .then(
          (found) => current && setRequests((known) => (known.at(-1)?.at === found.at(-1)?.at ? known : found)),
          // The wallet was locked in between.
          () => undefined,
        );
    void read();
    const timer = setInterval(() => document.visibilityState === "visible" && void read(), REQUESTS_MS);
    return () => {
      current = false;
      clearInterval(timer);
    };
  }, [open]);
  return requests;
}

function useSpent(open: boolean, history: readonly HistoryEntry[]): ReadonlyMap<bigint, number> {
  const [spent, setSpent] = useState<ReadonlyMap<bigint, number>>(new Map());
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed history means that notes may be spent.
  useEffect(() => {
    if (!open) return setSpent(new Map());
    let current = true;
    engine()
      .spentNotes()
      .then(
        (notes) => current && setSpent(new Map(notes.map(({ nullifier, leafIndex }) => [nullifier, leafIndex]))),
        // The wallet was locked in between.
        () => undefined,
      );
    return () => {
      current = false;
    };
  }, [open, history]);
  return spent;
}

function useKey(
  payments: readonly SeenPayment[],
): Pick<Observation, "keyMonths" | "setKey" | "setWalletKey" | "forgetKey" | "amounts"> {
  const config = useConfig();
  const [keyMonths, setMonths] = useState<string>();
  const [amounts, setAmounts] = useState<ReadonlyMap<string, bigint>>(new Map());
  const setKey = useCallback(async (text: string) => setMonths(await observer(config).setKey(text)), [config]);
  const setWalletKey = useCallback(async () => {
    setMonths(await observer(config).setKey(await engine().viewingKeys()));
  }, [config]);
  const forgetKey = useCallback(() => {
    setMonths(undefined);
    void observer(config).forgetKey();
  }, [config]);
  useEffect(() => {
    if (keyMonths === undefined) return setAmounts(new Map());
    let current = true;
    const events = payments.flatMap(({ chain }) => (chain === undefined ? [] : [chain.event]));
    observer(config)
      .amounts(events)
      .then(
        (found) => {
          const read = events.flatMap(({ digest }, i) => (found[i] === undefined ? [] : [[digest, found[i]] as const]));
          if (current) setAmounts(new Map(read));
        },
        // The worker failed, and the page says so.
        () => undefined,
      );
    return () => {
      current = false;
    };
  }, [config, keyMonths, payments]);
  // The worker keeps the key while the user visits other pages.
  useEffect(
    () =>
      void observer(config)
        .keyMonths()
        .then(setMonths, () => undefined),
    [config],
  );
  return { keyMonths, setKey, setWalletKey, forgetKey, amounts };
}
