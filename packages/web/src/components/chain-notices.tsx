import type { Reorganization } from "../engine/pool-feed-api.ts";
import type { Failure } from "../errors.ts";
import { useConfig } from "../hooks/use-config.ts";
import { useHostChange } from "../hooks/use-host-change.ts";
import { formatNumberOf } from "../lib/age.ts";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";
import { Time } from "./time.tsx";

interface Properties {
  /** Why the last attempt to read the chain failed. */
  readonly problem: Failure | undefined;
  /** Whether the page still shows data from an earlier read. */
  readonly stale: boolean;
  readonly reorganized: Reorganization | undefined;
  /** When the chain was restarted, milliseconds. */
  readonly restarted: number | undefined;
  /** Reads the chain now. */
  onRetry?(): void;
}

/** One message for each problem with the chain, with what the user can do about it. */
export function ChainNotices({ problem, stale, reorganized, restarted, onRetry }: Properties) {
  const failing = problem !== undefined && problem.code !== "NODE_UNREACHABLE";
  const changed = useHostChange(useConfig(), restarted, failing);
  if (changed) {
    const message = "sotto.json names another pool, chain or node";
    return (
      <ErrorMessage error={{ code: "HOST_CHANGED", message, details: {} } satisfies Failure} tone="warn">
        <Button small onClick={() => location.reload()}>
          Reload
        </Button>
      </ErrorMessage>
    );
  }
  return (
    <>
      {problem !== undefined && (
        <ErrorMessage error={problem} tone={stale ? "warn" : "bad"}>
          {stale && <span className="small">Until then, the page shows what it has read before.</span>}
          {onRetry !== undefined && (
            <Button small onClick={onRetry}>
              Try again now
            </Button>
          )}
        </ErrorMessage>
      )}
      {restarted !== undefined && (
        <div className="notice" data-tone="warn" role="status">
          <p>
            The chain was restarted at <Time at={restarted} clock />, so everything on the old one is gone. This page
            shows the new chain.
          </p>
        </div>
      )}
      {reorganized !== undefined && (
        <div className="notice" role="status">
          <p>
            <span>{`The chain replaced its last ${
              reorganized.blocks === undefined ? "blocks" : formatNumberOf(reorganized.blocks, "block")
            } at`}</span>{" "}
            <Time at={reorganized.at} clock />. This page has read the new ones; there is nothing to do.
          </p>
        </div>
      )}
    </>
  );
}
