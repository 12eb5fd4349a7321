import { trimPasted } from "@sotto/protocol";
import { useEffect, useState } from "react";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Hash } from "../../components/hash.tsx";
import { Time } from "../../components/time.tsx";
import { poolFeed } from "../../engine/pool-feed.ts";
import { useAnswer } from "../../hooks/use-answer.ts";
import { formatCount } from "../../lib/age.ts";

const MAX_HITS = 50;
const PAUSE_MS = 150;

/** Finds transactions, commitments, nullifiers and leaf indexes. The worker searches. */
export function Search({ onOpen }: { onOpen(hash: string): void }) {
  const [typed, setTyped] = useState("");
  const [text, setText] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setText(trimPasted(typed)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { value: result, failure } = useAnswer(text === "" ? undefined : text, async () => ({
    text,
    ...(await poolFeed().search(text, MAX_HITS)),
  }));
  const shown = text !== "" && result?.text === text ? result : undefined;
  return (
    <search className="stack tight">
      <input
        type="search"
        className="input"
        aria-label="Search the pool"
        placeholder="Transaction, commitment, nullifier, root, account or leaf index"
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      {failure !== undefined && <ErrorMessage error={failure} />}
      <p className="soft small" role="status">
        {shown === undefined
          ? ""
          : shown.hits.length === 0
            ? "Not found in this pool. At least three digits are needed."
            : `${shown.more ? `The newest ${MAX_HITS}` : formatCount(shown.hits.length)} found`}
      </p>
      {shown !== undefined && shown.hits.length > 0 && (
        <ul className="card lines hits" aria-label="Found">
          {shown.hits.map(({ kind, value, leafIndex, transactionHash, timestamp }) => (
            <li key={`${kind} ${value} ${transactionHash}`}>
              <span>
                <strong>{leafIndex === undefined ? kind : `${kind} ${formatCount(leafIndex)}`}</strong>
                <Hash value={value} name={kind} />
              </span>
              <span className="row">
                <Time at={timestamp * 1000} />
                <button type="button" className="button secondary small" onClick={() => onOpen(transactionHash)}>
                  Show
                </button>
              </span>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}
