import type { Received } from "@sotto/wallet";
import { useMemo } from "react";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Hash } from "../../components/hash.tsx";
import { Icon } from "../../components/icon.tsx";
import { Time } from "../../components/time.tsx";
import { VirtualList } from "../../components/virtual-list.tsx";
import { merchantDesk } from "../../engine/merchant.ts";
import { useAction } from "../../hooks/use-action.ts";
import { saveText, today } from "../../lib/save.ts";

const ROW_HEIGHT = 64;
const MAX_HEIGHT = 448;

/** The payments as they arrive, newest first. */
export function Payments({ received }: { readonly received: readonly Received[] }) {
  const newest = useMemo(() => [...received].reverse(), [received]);
  const { busy, failure, run } = useAction();
  const save = async () => saveText(`sotto-received-${today()}.csv`, "text/csv", await merchantDesk().csv());
  return (
    <section className="card card-flush">
      <header>
        <h2>Payments</h2>
        <Button small busy={busy} disabled={received.length === 0} onClick={() => run(save)}>
          <Icon name="save" /> Export CSV
        </Button>
      </header>
      {failure !== undefined && <ErrorMessage error={failure} />}
      {newest.length === 0 ? (
        <p className="empty">No payment yet. New ones appear here as soon as they are on the chain.</p>
      ) : (
        <VirtualList
          items={newest}
          rowHeight={ROW_HEIGHT}
          height={Math.min(MAX_HEIGHT, newest.length * ROW_HEIGHT)}
          label="Received, newest first"
          keyOf={({ leafIndex }) => String(leafIndex)}
        >
          {({ amount, origin, timestamp, transactionHash, confirmed }) => (
            <div className="received">
              <span className="received-what">
                <span>{origin === "payment" ? "Payment" : "Own deposit"}</span>
                <Hash value={transactionHash} name="transaction" />
              </span>
              <span className="received-when">
                <Time at={timestamp * 1000} />
                <span className="state" data-tone={confirmed ? "good" : "warn"}>
                  {confirmed ? "confirmed" : "waits for confirmations"}
                </span>
              </span>
              <strong>
                <Amount value={amount} direction="in" />
              </strong>
            </div>
          )}
        </VirtualList>
      )}
    </section>
  );
}
