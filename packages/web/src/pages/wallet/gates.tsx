// What the wallet page shows while there is no open wallet, and why.
import { useState } from "react";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Time } from "../../components/time.tsx";
import { loadConfig } from "../../config.ts";
import { engine } from "../../engine/page.ts";
import { type Failure, WebError } from "../../errors.ts";
import { useAction } from "../../hooks/use-action.ts";

export function Elsewhere({ since }: { readonly since: number | undefined }) {
  const { busy, failure, run } = useAction();
  return (
    <div className="narrow card stack">
      <h1>The wallet is open in another tab</h1>
      <p className="soft">
        {since !== undefined && (
          <span>
            The other tab opened it at <Time at={since} clock />.{" "}
          </span>
        )}
        <span>
          Only one tab at a time can use it, so that two tabs cannot exceed a limit together. You can continue there, or
          move the wallet to this tab.
        </span>
      </p>
      {failure !== undefined && <ErrorMessage error={failure} />}
      <div className="row">
        <Button kind="primary" busy={busy} onClick={() => run(() => engine().takeOver())}>
          Use it in this tab
        </Button>
      </div>
    </div>
  );
}

export function Opening({ progress }: { readonly progress: { block: number; height: number } | undefined }) {
  return (
    <div className="narrow card stack" role="status">
      <h1>Opening the wallet</h1>
      <p className="soft number">
        {progress === undefined
          ? "Connecting to the chain"
          : `Reading block ${progress.block} of ${progress.height}. The wallet finds its notes by itself, so that no server learns which ones are yours.`}
      </p>
      <progress value={progress?.block} max={progress?.height} aria-label="Progress" />
    </div>
  );
}

export function Failed({ failure }: { readonly failure: Failure }) {
  const [asked, setAsked] = useState(false);
  const { busy, failure: failed, run } = useAction();
  const damaged = failure.code === "VAULT_DAMAGED";
  return (
    <div className="narrow stack">
      <h1>The wallet cannot be opened</h1>
      <ErrorMessage error={failure} />
      {failed !== undefined && <ErrorMessage error={failed} />}
      {damaged ? (
        <div className="row">
          {asked ? (
            <Button kind="danger" busy={busy} onClick={() => run(() => engine().forget())}>
              Remove it; I have the words or a backup
            </Button>
          ) : (
            <Button onClick={() => setAsked(true)}>Remove the damaged wallet</Button>
          )}
        </div>
      ) : (
        <p className="soft" role="status">
          <span className="spinner" /> Trying again every few seconds
        </p>
      )}
    </div>
  );
}

export function Replaced({ failure }: { readonly failure: Failure }) {
  const { busy, failure: failed, run } = useAction();
  const startFresh = async () => {
    const config = await loadConfig();
    if (config === undefined) throw new WebError("HOST_CONFIG_INVALID", "the host no longer has a sotto.json");
    await engine().startFresh(config);
  };
  return (
    <div className="narrow stack">
      <h1>This is a different chain</h1>
      <ErrorMessage error={failure} tone="warn">
        <Button kind="primary" busy={busy} onClick={() => run(startFresh)}>
          Start fresh
        </Button>
        <Button onClick={() => run(() => engine().lock())}>Keep the old data and lock</Button>
      </ErrorMessage>
      {failed !== undefined && <ErrorMessage error={failed} />}
    </div>
  );
}
