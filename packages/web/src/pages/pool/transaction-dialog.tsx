import { Amount } from "../../components/amount.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Hash } from "../../components/hash.tsx";
import { Time } from "../../components/time.tsx";
import { poolFeed } from "../../engine/pool-feed.ts";
import type { FeedEvent } from "../../engine/pool-feed-api.ts";
import { useAnswer } from "../../hooks/use-answer.ts";
import { formatCount } from "../../lib/age.ts";
import { toBytes32 } from "../../lib/bytes32.ts";

const TITLES = {
  deposited: "Deposit",
  settled: "Payment",
  withdrawn: "Withdrawal or merge",
  appended: "Append",
} as const satisfies Record<FeedEvent["event"]["type"], string>;

/** All public values of a transaction. */
export function TransactionDialog({ hash, onClose }: { readonly hash: string; onClose(): void }) {
  const { value, failure } = useAnswer(hash, async () => ({ found: await poolFeed().transaction(hash) }));
  const found = value?.found;
  return (
    <Dialog title="Transaction" onClose={onClose}>
      {failure !== undefined && <ErrorMessage error={failure} />}
      {value !== undefined && found === undefined && (
        <p className="notice" data-tone="warn">
          The chain no longer has this transaction of the pool.
        </p>
      )}
      {found !== undefined && (
        <>
          <dl className="facts">
            <dt>Hash</dt>
            <dd>
              <Hash value={found.hash} name="transaction" />
            </dd>
            <dt>Block</dt>
            <dd className="number">{formatCount(found.blockNumber)}</dd>
            <dt>Time</dt>
            <dd>
              <Time at={found.timestamp * 1000} />
            </dd>
          </dl>
          {found.events.map((event) => (
            <Event key={event.index} of={event} />
          ))}
        </>
      )}
    </Dialog>
  );
}

function Event({ of: { event, crowd } }: { readonly of: FeedEvent }) {
  return (
    <section className="stack tight event">
      <h3>{TITLES[event.type]}</h3>
      <dl className="facts">
        {crowd !== undefined && (
          <Fact name="Crowd" value={`at most ${formatCount(crowd.notesBefore - crowd.spentBefore)} unspent notes`} />
        )}
        <Values event={event} />
      </dl>
    </section>
  );
}

function Values({ event }: Pick<FeedEvent, "event">) {
  switch (event.type) {
    case "deposited":
      return (
        <>
          <Fact name="Amount" amount={event.amount} />
          <Fact name="Leaf index" value={formatCount(event.leafIndex)} />
          <Fact name="Commitment" word={event.commitment} />
          <Fact name="Owner tag" word={event.ownerTag} />
        </>
      );
    case "settled":
      return (
        <>
          <Fact name="Nullifier" word={event.nullifier} />
          <Fact name="Recipient's note" value={formatCount(event.leafIndex)} />
          <Fact name="Recipient's commitment" word={event.recipientCommitment} />
          <Fact name="Change note" value={formatCount(event.leafIndex + 1)} />
          <Fact name="Change commitment" word={event.changeCommitment} />
          <Fact name="Ephemeral key R (x)" word={event.ephemeralX} />
          <Fact name="Ciphertext C (x), hidden" word={event.hiddenCipherX} />
          <Fact name="Amount hint" word={event.amountHint} />
          <Fact name="Change hint" word={event.changeHint} />
          <Fact name="Digest of the signals" hash={event.digest} />
        </>
      );
    case "withdrawn":
      return (
        <>
          <Fact name="Amount" amount={event.amount} />
          <Fact name="Fee" amount={event.fee} />
          <Fact name="Recipient" hash={event.recipient} />
          {event.nullifiers
            .filter((nullifier) => nullifier !== 0n)
            .map((nullifier, i) => (
              <Fact key={nullifier} name={`Nullifier ${i + 1}`} word={nullifier} />
            ))}
          {event.commitment !== 0n && <Fact name="New commitment" word={event.commitment} />}
          <Fact name="Digest of the signals" hash={event.digest} />
        </>
      );
    case "appended":
      return (
        <>
          <Fact name="Leaves" value={`${formatCount(event.count)} from ${formatCount(event.startIndex)}`} />
          <Fact name="New root" word={event.newRoot} />
        </>
      );
  }
}

interface FactProperties {
  readonly name: string;
  readonly value?: string;
  /** Base units. */
  readonly amount?: bigint;
  readonly word?: bigint;
  readonly hash?: string;
}

function Fact({ name, value, amount, word, hash }: FactProperties) {
  const long = word === undefined ? hash : toBytes32(word);
  return (
    <>
      <dt>{name}</dt>
      <dd className="number">
        {value !== undefined && <span>{value}</span>}
        {amount !== undefined && <Amount value={amount} />}
        {long !== undefined && <Hash value={long} name={name.toLowerCase()} />}
      </dd>
    </>
  );
}
