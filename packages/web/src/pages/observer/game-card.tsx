import { PAYMENT_SIGNAL } from "@sotto/protocol";
import { useRef, useState } from "react";
import { Link } from "wouter";
import { Amount } from "../../components/amount.tsx";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Time } from "../../components/time.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import { poolFeed } from "../../engine/pool-feed.ts";
import type { NoteRow } from "../../engine/pool-feed-api.ts";
import { useAction } from "../../hooks/use-action.ts";
import { callOf } from "./fields.ts";
import { drawRound, keepScore, type Playable, type Round, readScore, scored, secureRandom } from "./game.ts";
import type { ChainPayment } from "./payments.ts";
import { leavesUnder } from "./use-leaves.ts";
import type { Observation } from "./use-observation.ts";

interface Table {
  readonly round: Round<ChainPayment>;
  /** Leaves under the payment's root. */
  readonly crowd: number;
  readonly notes: readonly NoteRow[];
  readonly guess: number | undefined;
}

const ORIGINS: Record<NoteRow["origin"], string> = {
  deposit: "from a deposit",
  payment: "from a payment",
  change: "change of a payment",
  withdrawal: "left by a withdrawal",
};

/** A game with this wallet's payments: which of these notes was spent? */
export function Game({ seen }: { readonly seen: Observation }) {
  const [table, setTable] = useState<Table>();
  const [score, setScore] = useState(readScore);
  const [empty, setEmpty] = useState(false);
  const { busy, failure, run } = useAction();
  const heading = useRef<HTMLHeadingElement>(null);
  const ready = seen.wallet !== undefined && seen.spent.size > 0;
  const draw = () =>
    run(async () => {
      const playable = await playableOf(seen);
      const round = drawRound(playable, secureRandom);
      setEmpty(round === undefined);
      if (round === undefined) return setTable(undefined);
      const crowd = playable.find(({ payment }) => payment === round.payment)!.leaves;
      const notes = await Promise.all(round.choices.map(async (leaf) => (await poolFeed().notes(leaf, 1))[0]));
      setTable({ round, crowd, notes: notes.filter((note) => note !== undefined), guess: undefined });
      heading.current?.focus();
    });
  const guess = (leaf: number) => {
    if (table === undefined || table.guess !== undefined) return;
    const next = scored(score, table.round.choices.length, leaf === table.round.spent);
    keepScore(next);
    setScore(next);
    setTable({ ...table, guess: leaf });
  };
  return (
    <section className="card stack" aria-labelledby="game" data-testid="game">
      <div className="row between">
        <h2 id="game" ref={heading} tabIndex={-1}>
          Game: find the payment
        </h2>
        <p className="small number" role="status" data-testid="score">
          {score.rounds === 0
            ? "No guess yet"
            : `${score.hits} of ${score.rounds} found; blind guessing finds ${score.chance.toFixed(1)}`}
        </p>
      </div>
      <p className="soft small">
        One payment of this wallet is drawn. You see what everyone sees of it, and some notes of the tree: one of them
        was spent. Which one? Only the wallet knows.
      </p>
      {failure !== undefined && <ErrorMessage error={failure} />}
      {empty && (
        <div className="notice" data-tone="warn" role="status">
          <p>
            None of this wallet's listed payments can be played: the crowd needs at least two notes, and the page needs
            the payment's call. Make a payment, or open one in the list above and ask the node for its call.
          </p>
        </div>
      )}
      {table !== undefined && <Choices table={table} onGuess={guess} />}
      {!ready && (
        <p className="small">
          {seen.wallet === undefined ? (
            <span>
              The game needs an open wallet with a payment. <Link href="/wallet">Go to the wallet</Link>
            </span>
          ) : (
            "The game needs a payment of this wallet. Make one above."
          )}
        </p>
      )}
      {ready && (
        <div className="row">
          <Button
            kind={table === undefined || table.guess !== undefined ? "primary" : "secondary"}
            busy={busy}
            onClick={draw}
          >
            {table === undefined ? "Draw a payment" : "Draw another payment"}
          </Button>
        </div>
      )}
      <details className="value">
        <summary>
          <span className="value-title">Why nobody does better than chance</span>
        </summary>
        <div className="value-body stack tight small">
          <p>
            The nullifier is a hash of the note, its position and the spending key. Without the key, the hash of each
            note looks equally random, so the nullifier fits all of them equally well. The proof says only that it
            belongs to one of them.
          </p>
          <p>
            What is left to guess from is habit: someone who always spends a note right after it arrived helps you. A
            larger pool and more time between make that hint worthless. In the real pool you would have to choose among
            all notes, not among <span>{table?.round.choices.length ?? 8}</span>.
          </p>
        </div>
      </details>
    </section>
  );
}

/** The payments whose spent note and root are known. */
async function playableOf({ payments, spent, calls }: Observation): Promise<Playable<ChainPayment>[]> {
  const found = payments.map(async ({ own, chain }) => {
    if (own === undefined || chain === undefined) return [];
    const leaf = spent.get(chain.event.nullifier);
    const root = callOf(chain.event, calls.get(chain.transaction.hash)?.payments)?.signals[PAYMENT_SIGNAL.root];
    const leaves = leaf === undefined || root === undefined ? undefined : await leavesUnder(root);
    return leaf === undefined || leaves === undefined ? [] : [{ payment: chain, spent: leaf, leaves }];
  });
  return (await Promise.all(found)).flat();
}

const shortHex = (word: bigint): string => word.toString(16).padStart(64, "0").slice(0, 12);

function Choices({ table, onGuess }: { readonly table: Table; onGuess(leaf: number): void }) {
  const { round, crowd, notes, guess } = table;
  const { event } = round.payment;
  const open = guess === undefined;
  return (
    <>
      <p className="small">
        A payment settled in block <span className="number">{event.blockNumber}</span>, with the nullifier{" "}
        <Verbatim as="code">{`0x${shortHex(event.nullifier)}…`}</Verbatim> on the chain. Its crowd has{" "}
        <strong className="number">{crowd}</strong> notes;{" "}
        <span>{`${notes.length === crowd ? "all" : notes.length} of them are here. A blind guess is right once in ${notes.length}.`}</span>
      </p>
      <ul className="choices-grid">
        {notes.map((note) => (
          <li key={note.leafIndex}>
            <button
              type="button"
              className="choice-note"
              disabled={!open}
              data-result={open ? undefined : resultOf(note.leafIndex, round.spent, guess)}
              onClick={() => onGuess(note.leafIndex)}
            >
              <strong>{`Note ${note.leafIndex}`}</strong>
              <Verbatim as="code" className="tiny soft">{`${shortHex(note.commitment)}…`}</Verbatim>
              <span className="tiny soft">
                <span>{ORIGINS[note.origin]}</span>
                {note.amount !== undefined && (
                  <span>
                    {" of "}
                    <Amount value={note.amount} />
                  </span>
                )}
              </span>
              <span className="tiny soft">
                <Time at={note.timestamp * 1000} clock />
              </span>
            </button>
          </li>
        ))}
      </ul>
      <p role="status" className="small" data-testid="outcome">
        {!open &&
          (guess === round.spent
            ? "Right, this time. Draw a few more: the score returns to chance."
            : `No: it was note ${round.spent}. The chain does not show it; only this wallet knows.`)}
      </p>
    </>
  );
}

function resultOf(leaf: number, spent: number, guess: number): "spent" | "wrong" | "other" {
  if (leaf === spent) return "spent";
  return leaf === guess ? "wrong" : "other";
}
