import { MAX_VIEWING_KEYS_LENGTH } from "@sotto/protocol";
import { useState } from "react";
import { Button } from "../../components/button.tsx";
import { ErrorMessage } from "../../components/error-message.tsx";
import { Form } from "../../components/form.tsx";
import { TextArea } from "../../components/text-area.tsx";
import { useAction } from "../../hooks/use-action.ts";
import type { Observation } from "./use-observation.ts";

/** Takes a merchant's viewing key. It stays in the worker's memory, and nothing shows it again. */
export function KeyForm({ seen }: { readonly seen: Observation }) {
  const { setKey, setWalletKey, wallet } = seen;
  const [text, setText] = useState("");
  const { busy, failure, run } = useAction();
  const take = (given: string) =>
    run(async () => {
      await setKey(given);
      setText("");
    });
  return (
    <Form className="stack tight" onSubmit={() => take(text)}>
      <p>
        A viewing key reads the payments to one merchant, at the addresses of its months, and spends nothing. It stays
        in this tab until you close it.
      </p>
      <TextArea
        label="Viewing key (JSON)"
        className="mono short"
        required
        autoComplete="off"
        spellCheck={false}
        placeholder='{"type":"sotto-viewing-key", …}'
        value={text}
        onChange={setText}
      />
      {failure !== undefined && <ErrorMessage error={failure} />}
      <div className="row">
        <Button small type="submit" busy={busy}>
          Use it
        </Button>
        <label className="button small plain file-button">
          Choose a file
          <input
            type="file"
            accept="application/json,.json"
            className="hidden-text"
            onChange={({ target }) => {
              // Larger files are not viewing keys.
              const file = target.files?.[0]?.slice(0, MAX_VIEWING_KEYS_LENGTH);
              target.value = "";
              if (file !== undefined) void file.text().then(take);
            }}
          />
        </label>
        {wallet !== undefined && (
          <Button small kind="plain" onClick={() => run(setWalletKey)}>
            This wallet's key
          </Button>
        )}
      </div>
    </Form>
  );
}
