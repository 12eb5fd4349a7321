import { useDeferredValue, useMemo, useState } from "react";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Hash } from "../../components/hash.tsx";
import { Icon } from "../../components/icon.tsx";
import { Time } from "../../components/time.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import { VirtualList } from "../../components/virtual-list.tsx";
import type { HistoryEntry } from "../../engine/api.ts";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { formatAmount } from "../../lib/amount.ts";
import { saveText, today } from "../../lib/save.ts";
import { HistoryRow, KINDS, STATES, subjectOf } from "./history-table.tsx";

const ROW_HEIGHT = 68;
const MAX_HEIGHT = 640;

const matches = (entry: HistoryEntry, words: readonly string[]): boolean => {
  const { title } = KINDS[entry.kind];
  const { counterparty, resource, transaction, amount, state } = entry;
  const text = [title, STATES[state].text, counterparty, resource, transaction, formatAmount(amount)]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
};

/** All payments, with search and CSV. */
export function HistoryView({ history }: { readonly history: readonly HistoryEntry[] }) {
  const [search, setSearch] = useState("");
  const [opened, setOpened] = useState<HistoryEntry>();
  const { busy, failure, run } = useAction();
  const words = useDeferredValue(search).toLowerCase().split(/\s+/).filter(Boolean);
  const text = words.join(" ");
  const found = useMemo(
    () => history.filter((entry) => matches(entry, text.split(" ").filter(Boolean))),
    [history, text],
  );
  return (
    <div className="stack">
      <div className="row between">
        <input
          type="search"
          className="input search"
          placeholder="Search: merchant, address, amount, transaction"
          aria-label="Search the history"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <Button
          busy={busy}
          onClick={() => run(async () => saveText(`sotto-payments-${today()}.csv`, "text/csv", await engine().csv()))}
        >
          <Icon name="save" /> Payments as CSV
        </Button>
      </div>
      {failure !== undefined && <ErrorMessage error={failure} />}
      <section className="card card-flush" aria-label="History">
        {found.length === 0 ? (
          <p className="empty">{history.length === 0 ? "No payments yet." : "No payment matches the search."}</p>
        ) : (
          <VirtualList
            items={found}
            rowHeight={ROW_HEIGHT}
            height={Math.min(MAX_HEIGHT, found.length * ROW_HEIGHT)}
            label={`${found.length} entries`}
            keyOf={({ id }) => id}
          >
            {(entry) => <HistoryRow entry={entry} onOpen={setOpened} />}
          </VirtualList>
        )}
      </section>
      {opened !== undefined && <EntryDialog entry={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

/** One entry, with everything that this wallet knows about it. */
function EntryDialog({ entry, onClose }: { readonly entry: HistoryEntry; onClose(): void }) {
  const { busy, failure, run } = useAction();
  const { kind, state, amount, at, counterparty, resource, transaction, block } = entry;
  return (
    <Dialog title={KINDS[kind].title} onClose={onClose}>
      <dl className="facts">
        <dt>Amount</dt>
        <dd>
          <Amount value={amount} />
        </dd>
        <dt>State</dt>
        <dd>{STATES[state].text}</dd>
        <dt>Time</dt>
        <dd>
          <Time at={at} />
        </dd>
        {resource !== "" && (
          <>
            <dt>For</dt>
            <dd>{/^https?:/.test(resource) ? <Verbatim>{resource}</Verbatim> : subjectOf(entry)}</dd>
          </>
        )}
        {counterparty !== "" && (
          <>
            <dt>Recipient</dt>
            <dd>
              <Hash value={counterparty} name="recipient" />
            </dd>
          </>
        )}
        {transaction !== "" && (
          <>
            <dt>Transaction</dt>
            <dd>
              <Hash value={transaction} name="transaction" />
            </dd>
          </>
        )}
        {block !== undefined && (
          <>
            <dt>Block</dt>
            <dd className="number">{block}</dd>
          </>
        )}
      </dl>
      {kind === "charge" && (
        <p className="small soft">
          Paid with a prepaid token. The payment that bought the token is an entry of its own, so this amount left the
          wallet before.
        </p>
      )}
      {kind === "payment" && state === "settled" && (
        <>
          <p className="small soft">
            A receipt proves to the person you give it to that you made this payment. It reveals none of your other
            payments.
          </p>
          {failure !== undefined && <ErrorMessage error={failure} />}
          <div className="dialog-actions">
            <Button
              busy={busy}
              onClick={() =>
                run(async () => {
                  const receipt = await engine().receipt(entry.id);
                  saveText(`sotto-receipt-${transaction.slice(2, 10)}.json`, "application/json", receipt);
                })
              }
            >
              <Icon name="save" /> Save a receipt
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
