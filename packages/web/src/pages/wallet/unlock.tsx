import { useState } from "react";
import { Button } from "../../components/button.tsx";
import { engine } from "../../engine/page.ts";
import { useAction } from "../../hooks/use-action.ts";
import { PassphraseForm } from "./passphrase.tsx";

export function Unlock() {
  const [forgotten, setForgotten] = useState(false);
  const { busy, run } = useAction();
  return (
    <div className="narrow card stack loose">
      <div>
        <h1>Unlock your wallet</h1>
        <p className="soft">Its key is encrypted in this browser.</p>
      </div>
      <PassphraseForm isNew={false} action="Unlock" onPassphrase={(passphrase) => engine().unlock(passphrase)} />
      {forgotten ? (
        <div className="notice stack tight" data-tone="warn">
          <p>
            Without the passphrase, only the 24 words or a backup restore this wallet. Remove the wallet from this
            browser, then restore it with its words.
          </p>
          <div className="row">
            <Button kind="danger" small busy={busy} onClick={() => run(() => engine().forget())}>
              Remove it; I have the words
            </Button>
            <Button small onClick={() => setForgotten(false)}>
              Keep it
            </Button>
          </div>
        </div>
      ) : (
        <div>
          <Button kind="plain" onClick={() => setForgotten(true)}>
            Forgot the passphrase?
          </Button>
        </div>
      )}
    </div>
  );
}
