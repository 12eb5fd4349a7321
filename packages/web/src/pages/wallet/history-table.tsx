import { Amount } from "../../components/amount.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { Time } from "../../components/time.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { HistoryEntry, HistoryKind } from "../../engine/api.ts";

export const KINDS: Record<
  HistoryKind,
  { readonly title: string; readonly icon: IconName; readonly sign?: "in" | "out" }
> = {
  payment: { title: "Paid", icon: "send", sign: "out" },
  received: { title: "Received", icon: "receive", sign: "in" },
  deposit: { title: "Deposit", icon: "plus", sign: "in" },
  withdrawal: { title: "Withdrawal", icon: "out", sign: "out" },
  merge: { title: "Notes merged", icon: "check" },
  // Without a sign: the payment for the tokens has one.
  charge: { title: "Charged", icon: "merchant" },
};

export const STATES: Record<
  HistoryEntry["state"],
  { readonly text: string; readonly tone: "good" | "warn" | "bad" | "none" }
> = {
  settled: { text: "settled", tone: "good" },
  open: { text: "in progress", tone: "warn" },
  pending: { text: "arriving", tone: "warn" },
  failed: { text: "failed", tone: "bad" },
  expired: { text: "not paid", tone: "none" },
  prepaid: { text: "prepaid", tone: "none" },
};

/** What an entry was for, in a few words. */
function Subject({ entry }: { readonly entry: HistoryEntry }) {
  const { kind, resource, counterparty } = entry;
  if (/^https?:/.test(resource)) return <Verbatim>{resource.replace(/^https?:\/\//, "")}</Verbatim>;
  if (kind === "withdrawal" && counterparty !== "")
    return (
      <span>
        to <Verbatim>{`${counterparty.slice(0, 8)}…${counterparty.slice(-6)}`}</Verbatim>
      </span>
    );
  return <span>{subjectOf(entry)}</span>;
}

/** What an entry without a page was for. */
export function subjectOf({ kind, resource, month, isOutsideMonth }: HistoryEntry): string {
  if (resource.startsWith("urn:sotto:phone:")) return "to a phone number";
  if (isOutsideMonth) return `to your address of ${month}, found later`;
  if (kind === "received") return month === "" ? "to your address" : `to your address of ${month}`;
  if (kind === "merge") return "into one note";
  if (kind === "deposit") return "into private notes";
  return "";
}

export function HistoryRow({
  entry,
  onOpen,
}: {
  readonly entry: HistoryEntry;
  onOpen?: (entry: HistoryEntry) => void;
}) {
  const { title, icon, sign } = KINDS[entry.kind];
  const { text, tone } = STATES[entry.state];
  const content = (
    <>
      <span className="entry-icon">
        <Icon name={icon} />
      </span>
      <span className="entry-what">
        <strong>{title}</strong>
        <span className="entry-subject soft small">
          <Subject entry={entry} />
        </span>
      </span>
      <span className="entry-when">
        <Time at={entry.at} />
        <span className="state" data-tone={tone}>
          {text}
        </span>
      </span>
      <span className="entry-amount">
        {(entry.amount > 0n || entry.kind === "charge") && <Amount value={entry.amount} direction={sign} />}
      </span>
    </>
  );
  if (onOpen === undefined) return <div className="entry">{content}</div>;
  return (
    <button type="button" className="entry" onClick={() => onOpen(entry)}>
      {content}
    </button>
  );
}

/** A few entries, without scrolling. */
export function HistoryTable({
  entries,
  empty,
}: {
  readonly entries: readonly HistoryEntry[];
  readonly empty: string;
}) {
  if (entries.length === 0) return <p className="empty">{empty}</p>;
  return (
    <ul className="entries">
      {entries.map((entry) => (
        <li key={entry.id}>
          <HistoryRow entry={entry} />
        </li>
      ))}
    </ul>
  );
}
