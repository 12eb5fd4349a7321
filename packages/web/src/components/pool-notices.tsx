import { poolFeed } from "../engine/pool-feed.ts";
import type { FeedState } from "../engine/pool-feed-api.ts";
import { ChainNotices } from "./chain-notices.tsx";
import { ErrorMessage } from "./error-message.tsx";

/** Notices on pages that show the pool's feed: about the chain, this browser's storage, and other tabs. */
export function PoolNotices({ state }: { readonly state: FeedState }) {
  const { summary, problem, reorganized, restarted, uncached, shared } = state;
  return (
    <>
      <ChainNotices
        {...{ problem, reorganized, restarted }}
        stale={summary !== undefined}
        onRetry={() => void poolFeed().refresh()}
      />
      {uncached !== undefined && <ErrorMessage error={uncached} tone="warn" />}
      {shared && (
        <p className="soft small" role="status">
          Another tab stores the data of this pool. You can use both, and close either.
        </p>
      )}
    </>
  );
}
